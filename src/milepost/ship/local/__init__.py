"""The local target: processes of the user behind two Envoys on one port."""
