package io.troupe.core.trace;

import static io.troupe.core.Require.require;

/**
 * The lines of traces that wait for the disk, as numbers: which lines may still join them, and how
 * many could not.
 *
 * <p>Lines of text, such as completions, are large and need no other line. Lines of events are
 * small, and each one that is missing is a gap in a group's life. So texts may take three quarters
 * of the bound, and the rest is for events.
 *
 * @param lines that wait or are being written
 * @param bytes of these
 * @param refused lines that were refused so far
 * @param full from the first line on that found no room, until half of the bound is free again; a
 *     line that is refused for its own size alone changes nothing
 */
public record LineBacklog(Limits limits, int lines, long bytes, long refused, boolean full) {
  private static final int OVERHEAD_BYTES = 128;

  /** Whether a line holds a text or an event. */
  public enum Kind {
    TEXT,
    EVENT
  }

  /**
   * The most lines and bytes that may wait.
   *
   * @param bytes of lines, each counted with what the queue itself takes for it
   */
  public record Limits(int lines, long bytes) {
    public Limits {
      require(lines >= 4, "at least 4 lines may wait, not %d", lines);
      require(bytes >= 1, "at least 1 byte may wait, not %d", bytes);
    }

    private boolean isHalfFree(int lines, long bytes) {
      return lines <= this.lines / 2 && bytes <= this.bytes / 2;
    }

    private boolean hold(Kind kind, long lines, long bytes) {
      long quarters = kind == Kind.TEXT ? 3 : 4;
      return lines <= this.lines / 4 * quarters && bytes <= this.bytes / 4 * quarters;
    }
  }

  /** The outcome of an offered line. */
  public sealed interface Offered {
    /** Afterwards. */
    LineBacklog next();
  }

  /** The line waits. */
  public record Accepted(LineBacklog next) implements Offered {}

  /** There is no room for it. */
  public record Refused(LineBacklog next) implements Offered {}

  /** Returns a backlog without lines. */
  public static LineBacklog empty(Limits limits) {
    return new LineBacklog(limits, 0, 0, 0, false);
  }

  /** Adds a line if there is room for it. */
  public Offered offer(Kind kind, int length) {
    long after = bytes + size(length);
    return limits.hold(kind, lines + 1L, after)
        ? new Accepted(new LineBacklog(limits, lines + 1, after, refused, full))
        : new Refused(
            new LineBacklog(
                limits, lines, bytes, refused + 1, full || !limits.isHalfFree(lines, bytes)));
  }

  /** A line that waited is on the disk, or the disk has refused it. */
  public LineBacklog written(int length) {
    require(
        lines >= 1 && bytes >= size(length), "no line of %d bytes waits in %s", length, toString());
    int left = lines - 1;
    long leftBytes = bytes - size(length);
    return new LineBacklog(
        limits, left, leftBytes, refused, full && !limits.isHalfFree(left, leftBytes));
  }

  private static long size(int length) {
    return (long) length + OVERHEAD_BYTES;
  }
}
