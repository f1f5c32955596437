package io.troupe.core.prompt;

import static io.troupe.core.Require.require;

/**
 * The position of admission in the data.
 *
 * @param epoch passes over the pool that are complete
 * @param position prompts of the present pass already admitted or passed over
 * @param chosen admissions so far where prompts are chosen by difficulty; 0 where they are not
 */
public record PromptCursor(long epoch, int position, long chosen) {
  /** The cursor before the first admission. */
  public static final PromptCursor START = new PromptCursor(0, 0);

  public PromptCursor {
    require(
        epoch >= 0 && position >= 0 && chosen >= 0,
        "a cursor is not negative: %d/%d, %d chosen",
        epoch,
        position,
        chosen);
  }

  /** A place of a run whose prompts are not chosen by difficulty. */
  public PromptCursor(long epoch, int position) {
    this(epoch, position, 0);
  }

  /** The cursor after one more prompt of a pool of {@code prompts}. */
  public PromptCursor advance(int prompts) {
    return position + 1 == prompts
        ? new PromptCursor(epoch + 1, 0, chosen)
        : new PromptCursor(epoch, position + 1, chosen);
  }

  /** The cursor after one more prompt was chosen by difficulty. */
  PromptCursor choose() {
    return new PromptCursor(epoch, position, chosen + 1);
  }

  /** Whether prompts are chosen by difficulty. */
  public boolean byDifficulty() {
    return chosen > 0;
  }
}
