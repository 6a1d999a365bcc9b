"""The health of this node's network links, as a section of aorta's snapshots."""
