package io.troupe.core.prompt;

import static io.troupe.core.Require.require;

/**
 * The position of admission in the data.
 *
 * @param epoch passes over the pool that are complete
 * @param position prompts of the present pass already admitted
 */
public record PromptCursor(long epoch, int position) {
  /** Nothing admitted yet. */
  public static final PromptCursor START = new PromptCursor(0, 0);

  public PromptCursor {
    require(epoch >= 0 && position >= 0, "a cursor is not negative: %d/%d", epoch, position);
  }

  /** The cursor after one more admission from a pool of {@code prompts}. */
  public PromptCursor advance(int prompts) {
    return position + 1 == prompts
        ? new PromptCursor(epoch + 1, 0)
        : new PromptCursor(epoch, position + 1);
  }
}
