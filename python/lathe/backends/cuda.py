"""What programs switch in CUDA's libraries, of which there are none, and in attention."""

from types import SimpleNamespace

from ..cuda import is_built  # noqa: F401
from ..nn.attention_backends import SDPBackend, allow, allowed

matmul = SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=False,
    allow_bf16_reduced_precision_reduction=False,
)  # fmt: skip


def flash_sdp_enabled():
    """Whether programs allow it; see nn.attention.sdpa_kernel."""
    return SDPBackend.FLASH_ATTENTION in allowed()


def enable_flash_sdp(enabled):
    """Allows it, or no longer; no result depends on it."""
    allow(SDPBackend.FLASH_ATTENTION, enabled)


def mem_efficient_sdp_enabled():
    """Whether programs allow it; see nn.attention.sdpa_kernel."""
    return SDPBackend.EFFICIENT_ATTENTION in allowed()


def enable_mem_efficient_sdp(enabled):
    """Allows it, or no longer; no result depends on it."""
    allow(SDPBackend.EFFICIENT_ATTENTION, enabled)


def math_sdp_enabled():
    """Whether programs allow it; see nn.attention.sdpa_kernel."""
    return SDPBackend.MATH in allowed()


def enable_math_sdp(enabled):
    """Allows it, or no longer; no result depends on it."""
    allow(SDPBackend.MATH, enabled)


def cudnn_sdp_enabled():
    """Whether programs allow it; see nn.attention.sdpa_kernel."""
    return SDPBackend.CUDNN_ATTENTION in allowed()


def enable_cudnn_sdp(enabled):
    """Allows it, or no longer; no result depends on it."""
    allow(SDPBackend.CUDNN_ATTENTION, enabled)
