"""Brings a memory and the primary that it shares with others up to date."""

from milepost.memory.sync.admission import admissible as admissible
from milepost.memory.sync.background import synchronising as synchronising
from milepost.memory.sync.primary import Primary as Primary
from milepost.memory.sync.primary import open_primary as open_primary
from milepost.memory.sync.status import SyncStatus as SyncStatus
from milepost.memory.sync.status import status_of as status_of
from milepost.memory.sync.synchroniser import Synchroniser as Synchroniser
