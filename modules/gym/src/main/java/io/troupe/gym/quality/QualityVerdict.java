package io.troupe.gym.quality;

/** Whether a row is trained on. */
public sealed interface QualityVerdict {
  /** The row is kept. */
  record Kept() implements QualityVerdict {}

  /**
   * The row is refused.
   *
   * @param reason by which refusals are counted, one word or a few with underscores
   * @param detail the finding, such as the id of the item that matched
   */
  record Refused(String reason, String detail) implements QualityVerdict {}
}
