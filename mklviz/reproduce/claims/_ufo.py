"""What the experiments of the UFO-MKL paper have in common."""

__all__ = ["KERNELS", "PAPER"]

PAPER = "Orabona, Luo, Ultra-fast optimization algorithm for sparse multi kernel learning, ICML 2011"
KERNELS = "kernels=gauss:0.5,1,2,5,7,10,12,15,17,20@all+each poly:1...3@all+each; normalize=diagonal"
