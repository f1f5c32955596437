package io.troupe.cluster.ranks;

import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.StepPart;
import java.util.List;

/** What the head and a rank's process say to each other; each order has one answer. */
sealed interface RankTalk {
  /** Of the head. */
  sealed interface Order extends RankTalk {}

  /** Of a rank. */
  sealed interface Answer extends RankTalk {}

  /** Leave the group, and listen for a new one. */
  record Listen() implements Order {}

  /**
   * Join the group, and begin.
   *
   * @param state folder of what the trainer has saved
   * @param ports where each rank listens, in rank order
   */
  record Begin(String state, List<Integer> ports) implements Order {}

  /** Make a step with the others. */
  record Step(RankShare share, Optimisation optimisation) implements Order {}

  /** It listens. */
  record Listening(int port) implements Answer {}

  /** It has begun. */
  record Begun() implements Answer {}

  /** The weights moved; its pieces of weights and means follow as bytes. */
  record Moved(double norm, StepPart part) implements Answer {}

  /** No rank's weights moved; why this one has no gradient, if it has none. */
  record Refused(String reason) implements Answer {}

  /** Another rank is lost. */
  record Lost(int rank, String reason) implements Answer {}

  /** It could not do it, by its own fault. */
  record Failed(String reason) implements Answer {}
}
