package io.troupe.engine.http.protocol;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/** Puts the messages of one answer together, completion by completion. Not safe between threads. */
public final class Assembly {
  private final List<Part> parts = new ArrayList<>();

  /** An answer of so many completions, none of which has a token yet. */
  public Assembly(int completions) {
    for (int i = 0; i < completions; i++) {
      parts.add(new Part());
    }
  }

  /**
   * Takes what a message adds.
   *
   * @throws MalformedAnswerException if it belongs to no completion that was asked for
   */
  public void add(Piece piece) throws MalformedAnswerException {
    if (piece.index() < 0 || piece.index() >= parts.size()) {
      throw new MalformedAnswerException(
          "a message is for completion %d, and %d were asked for"
              .formatted(piece.index(), parts.size()));
    }
    parts.get(piece.index()).add(piece);
  }

  /** How many tokens there are, of all completions. */
  public int tokens() {
    return parts.stream().mapToInt(part -> part.tokens.length).sum();
  }

  /** Whether the server has ended every completion. */
  public boolean ended() {
    return parts.stream().allMatch(part -> part.finish != Finish.OPEN);
  }

  /** The completions as far as they came. */
  public List<Drawn> drawn() {
    return parts.stream().map(Part::drawn).toList();
  }

  private static final class Part {
    private int[] tokens = {};
    private double[] logProbs = {};
    private int[] prompt = {};
    private final List<VersionSpan> versions = new ArrayList<>();
    private Finish finish = Finish.OPEN;
    private OptionalInt counted = OptionalInt.empty();
    private String model = "";

    void add(Piece piece) {
      if (piece.whole()) {
        tokens = piece.tokens();
        logProbs = piece.logProbs();
        versions.clear();
      } else {
        tokens = appended(tokens, piece.tokens());
        logProbs = appended(logProbs, piece.logProbs());
      }
      versions.addAll(piece.versions());
      prompt = piece.prompt().length > 0 ? piece.prompt() : prompt;
      counted = piece.drawn().isPresent() ? piece.drawn() : counted;
      model = piece.model().isEmpty() ? model : piece.model();
      finish = piece.finish() == Finish.OPEN ? finish : piece.finish();
    }

    Drawn drawn() {
      return new Drawn(tokens, logProbs, versions, finish, prompt, counted, model);
    }

    private static int[] appended(int[] head, int[] tail) {
      int[] all = Arrays.copyOf(head, head.length + tail.length);
      System.arraycopy(tail, 0, all, head.length, tail.length);
      return all;
    }

    private static double[] appended(double[] head, double[] tail) {
      double[] all = Arrays.copyOf(head, head.length + tail.length);
      System.arraycopy(tail, 0, all, head.length, tail.length);
      return all;
    }
  }
}
