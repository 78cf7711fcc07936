"""The formats in which captions and original positives arrive, read into one `CaptionsFile`."""
