"""How to install what GPUs need."""

GPU_PACKAGES = "pip install 'simsuite[cuda13]', or 'simsuite[cuda12]' where the driver knows no CUDA 13"
