package io.troupe.engine.http.protocol;

import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.protocol.VersionSpan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/** Assembles the messages of one answer into completions. Not thread-safe. */
public final class CompletionAssembler {
  private final List<Part> parts = new ArrayList<>();

  /** An answer with the given number of completions, none of which has a token yet. */
  public CompletionAssembler(int completions) {
    for (int i = 0; i < completions; i++) {
      parts.add(new Part());
    }
  }

  /**
   * Adds a message.
   *
   * @throws MalformedResponseException if it belongs to no requested completion
   */
  public void add(CompletionChunk piece) throws MalformedResponseException {
    if (piece.index() < 0 || piece.index() >= parts.size()) {
      throw new MalformedResponseException(
          "a message is for completion %d, and %d were asked for"
              .formatted(piece.index(), parts.size()));
    }
    parts.get(piece.index()).add(piece);
  }

  /** Tokens of all completions. */
  public int tokens() {
    return parts.stream().mapToInt(part -> part.tokens.length).sum();
  }

  /** Whether the server has ended every completion. */
  public boolean ended() {
    return parts.stream().allMatch(part -> part.finish != ServerFinishReason.OPEN);
  }

  /** The completions as far as they have arrived. */
  public List<RawCompletion> tokensSoFar() {
    return parts.stream().map(Part::raw).toList();
  }

  private static final class Part {
    private int[] tokens = {};
    private double[] logProbs = {};
    private int[] prompt = {};
    private final List<VersionSpan> versions = new ArrayList<>();
    private ServerFinishReason finish = ServerFinishReason.OPEN;
    private OptionalInt counted = OptionalInt.empty();
    private String model = "";

    void add(CompletionChunk piece) {
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
      counted = piece.sampled().isPresent() ? piece.sampled() : counted;
      model = piece.model().isEmpty() ? model : piece.model();
      finish = piece.finish() == ServerFinishReason.OPEN ? finish : piece.finish();
    }

    RawCompletion raw() {
      return new RawCompletion(tokens, logProbs, versions, finish, prompt, counted, model);
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
