package io.troupe.store.checkpoint;

import java.nio.file.Path;

/** A checkpoint whose files are all there, in the sizes they were written in. */
public record Checkpoint(long step, Path directory, CheckpointManifest manifest) {}
