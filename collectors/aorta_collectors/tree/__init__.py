"""What the ROCm sections share: layouts, headers, versions, libraries."""
