"""What tests on a device begin with."""

import os
import unittest

import kbench


def expect_device() -> None:
    """Skips where none can be used."""
    if any(device.usable for device in kbench.devices()):
        return
    if "KBENCH_REQUIRE_VULKAN" in os.environ:
        raise AssertionError("no Vulkan device")
    raise unittest.SkipTest("no Vulkan device")
