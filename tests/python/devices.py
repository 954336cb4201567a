"""What tests on a device begin with."""

import os
import unittest

import kbench


def expect_device(kind: str = "") -> None:
    """Skips where none can be used, or none of this kind ("cpu")."""
    if any(device.usable and kind in ("", device.type) for device in kbench.devices()):
        return
    if "KBENCH_REQUIRE_VULKAN" in os.environ:
        raise AssertionError("no Vulkan device")
    raise unittest.SkipTest("no Vulkan device")
