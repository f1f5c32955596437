package io.troupe.core.rollout;

import io.troupe.core.completion.Completion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * An episode while it runs under its lease: it takes turns by the exact prefix rule of {@link
 * EpisodeSequence}, and refuses every turn of another lease and every turn after its end.
 *
 * <p>A request that extends no sequence begins one: a template has dropped thinking, an agent has
 * compacted its context or asks through a sub-agent, or the same request is asked a second time. A
 * sampled token is therefore in exactly one sequence as a sampled token; where a later sequence
 * holds it too, it is observed there.
 *
 * @param sequences in the order of their first turns
 * @param turns recorded so far
 */
public record OpenEpisode(
    LeaseId lease, List<EpisodeSequence> sequences, int turns, boolean ended) {
  /** The outcome of a turn. */
  public sealed interface Outcome {}

  /**
   * The turn belongs to the episode.
   *
   * @param extended whether it continues a sequence; otherwise it begins one
   */
  public record Recorded(OpenEpisode episode, int ordinal, boolean extended) implements Outcome {}

  /** The turn came under another lease, or after the end, and is not trained on. */
  public record Refused(String reason) implements Outcome {}

  /**
   * A request and its answer, before the episode has given the turn a place.
   *
   * @param request all ids that the policy was asked with; handed over, not copied
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Answered(
      String agent, int[] request, Completion completion, long startMillis, long endMillis) {}

  public OpenEpisode {
    sequences = List.copyOf(sequences);
  }

  /** An episode without a turn. */
  public static OpenEpisode under(LeaseId lease) {
    return new OpenEpisode(lease, List.of(), 0, false);
  }

  /** Gives a turn its place. */
  public Outcome record(LeaseId under, Answered turn) {
    if (!under.equals(lease)) {
      return new Refused("it came under %s, and the episode is of %s".formatted(under, lease));
    }
    if (ended) {
      return new Refused("the episode of %s has ended".formatted(lease));
    }
    Optional<Integer> extended = sequenceOf(turn.request());
    List<EpisodeSequence> next = new ArrayList<>(sequences);
    if (extended.isPresent()) {
      int index = extended.get();
      EpisodeSequence sequence = sequences.get(index);
      int held = sequence.prompt().length + sequence.length();
      int[] observed = new int[turn.request().length - held];
      System.arraycopy(turn.request(), held, observed, 0, observed.length);
      List<Turn> more = new ArrayList<>(sequence.turns());
      more.add(placed(turn, observed));
      next.set(index, new EpisodeSequence(sequence.prompt(), more));
    } else {
      next.add(new EpisodeSequence(turn.request(), List.of(placed(turn, Turn.NOTHING))));
    }
    return new Recorded(
        new OpenEpisode(lease, next, turns + 1, false), turns, extended.isPresent());
  }

  private Turn placed(Answered turn, int[] observed) {
    return new Turn(
        turns,
        turn.agent(),
        observed,
        turn.completion(),
        true,
        List.of(),
        turn.startMillis(),
        turn.endMillis());
  }

  /** The longest sequence that the request extends. */
  private Optional<Integer> sequenceOf(int[] request) {
    return IntStream.range(0, sequences.size())
        .boxed()
        .filter(i -> sequences.get(i).isPrefixOf(request))
        .max(
            Comparator.comparingInt(
                i -> sequences.get(i).prompt().length + sequences.get(i).length()));
  }

  /** With what the tools did with a turn's calls. */
  public OpenEpisode withTools(int ordinal, List<ToolRun> runs) {
    return changed(ordinal, turn -> turn.with(runs));
  }

  /** With a turn that no later turn continues: its tokens get no loss weight. */
  public OpenEpisode abandon(int ordinal) {
    return changed(ordinal, Turn::abandoned);
  }

  private OpenEpisode changed(int ordinal, UnaryOperator<Turn> change) {
    return new OpenEpisode(
        lease,
        sequences.stream()
            .map(
                sequence ->
                    new EpisodeSequence(
                        sequence.prompt(),
                        sequence.turns().stream()
                            .map(turn -> turn.ordinal() == ordinal ? change.apply(turn) : turn)
                            .toList()))
            .toList(),
        turns,
        ended);
  }

  /** Returns this episode, which refuses further turns. */
  public OpenEpisode end() {
    return new OpenEpisode(lease, sequences, turns, true);
  }

  /**
   * The episode as it is trained.
   *
   * @throws IllegalArgumentException if it has no turn
   */
  public Episode stopped(StopReason stop) {
    return new Episode(sequences, stop);
  }
}
