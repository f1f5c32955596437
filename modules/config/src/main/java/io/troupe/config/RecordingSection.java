package io.troupe.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;

/** The records that a run keeps of its own history. */
public record RecordingSection(
    @Doc(
            value =
                "Older segments of the journal that are kept, compressed; the oldest are dropped"
                    + " beyond that. What a resume needs is always kept. 0 keeps all.",
            unit = "MiB")
        @Default("0")
        @Range(min = 0, max = 1_000_000_000)
        int journal,
    @Doc(
            value =
                "Most that each file of traces/ takes with the one before it: at half of that the"
                    + " file becomes NAME.1.jsonl and a new one begins. 0 keeps all, -1 writes"
                    + " none.",
            unit = "MiB")
        @Default("0")
        @Range(min = -1, max = 1_000_000_000)
        int traces,
    @Doc(
            value =
                "The tokens of each trained step with their log-probabilities and versions, some 9"
                    + " bytes a token: `troupe replay --training` makes the steps again from them."
                    + " The oldest steps are dropped beyond that. 0 keeps all, -1 writes none.",
            unit = "MiB")
        @Default("-1")
        @Range(min = -1, max = 1_000_000_000)
        int tokens) {
  private static final long MIB = 1L << 20;

  /** The journal's older segments that are kept; 0 for all. */
  public long journalBytes() {
    return journal * MIB;
  }

  /** Whether traces are written. */
  public boolean writesTraces() {
    return traces >= 0;
  }

  /** Whether the tokens of trained steps are written. */
  public boolean writesTokens() {
    return tokens >= 0;
  }

  /** Most bytes of the tokens of trained steps; 0 for all. */
  public long tokenBytes() {
    return tokens * MIB;
  }

  /** Most bytes of each trace file and the one before it; 0 for all. */
  public long traceBytes() {
    return traces * MIB;
  }
}
