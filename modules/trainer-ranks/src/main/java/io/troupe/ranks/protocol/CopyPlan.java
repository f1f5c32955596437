package io.troupe.ranks.protocol;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Plans which rank gives each piece of the state after a step to a group of ranks that have begun
 * again.
 *
 * @param mark of the copies
 * @param nextMark of those that the new group makes of them
 * @param steps from the state that the ranks began from to that step
 * @param elements of each piece
 * @param givers places in the new group, by pieces; there are as many pieces as the former group
 *     had ranks
 */
public record CopyPlan(long mark, long nextMark, long steps, long elements, List<Integer> givers) {
  public CopyPlan {
    givers = List.copyOf(givers);
    require(!givers.isEmpty(), "the state has 1 piece or more");
  }

  /** Whether the state can be had from copies. */
  public sealed interface Outcome {}

  /** The copies hold the whole state. */
  public record Found(CopyPlan plan) implements Outcome {}

  /**
   * The copies lack a part of the state.
   *
   * @param reason in words
   */
  public record Lacking(String reason) implements Outcome {}

  /**
   * A copy of a piece of the state in the memory of a rank.
   *
   * @param mark of the step that it was made after
   * @param piece index, from 0
   * @param pieces of that group
   * @param elements of each piece
   */
  public record Held(long mark, int piece, int pieces, long elements) {}

  /**
   * Finds a giver for each piece. The rank at the place of a piece gives it to itself if it has it.
   *
   * @param mark of the last common step
   * @param held copies by places in the new group
   */
  public static Outcome of(long mark, long nextMark, long steps, List<List<Held>> held) {
    List<Integer> givers = new ArrayList<>();
    long elements = 0;
    for (int place = 0; place < held.size(); place++) {
      for (Held copy : held.get(place)) {
        if (copy.mark == mark) {
          givers.addAll(
              Collections.nCopies(copy.pieces - Math.min(copy.pieces, givers.size()), -1));
          elements = copy.elements;
          if (givers.get(copy.piece) < 0 || copy.piece == place) {
            givers.set(copy.piece, place);
          }
        }
      }
    }
    if (givers.isEmpty()) {
      return new Lacking("no rank has a copy of the state after the last step");
    }
    List<String> lost = new ArrayList<>();
    for (int piece = 0; piece < givers.size(); piece++) {
      if (givers.get(piece) < 0) {
        lost.add(Integer.toString(piece));
      }
    }
    return lost.isEmpty()
        ? new Found(new CopyPlan(mark, nextMark, steps, elements, givers))
        : new Lacking(
            "the ranks that kept piece %s of %d are lost"
                .formatted(
                    lost.stream().collect(Collectors.joining(" and piece ")), givers.size()));
  }
}
