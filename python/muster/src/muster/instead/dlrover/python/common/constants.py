class PSClusterVersionType:
    """Upstream: dlrover/python/common/constants.py."""

    GLOBAL = "GLOBAL"
    LOCAL = "LOCAL"
    RESTORED = "RESTORED"
