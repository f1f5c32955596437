package io.troupe.cluster.ranks;

import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.StepPart;
import java.util.List;

/**
 * What the head and a rank's process say to each other. Each order has one answer; while a rank
 * obeys one, it gives signs of life.
 */
sealed interface RankTalk {
  /** Of the head. */
  sealed interface Order extends RankTalk {}

  /** Of a rank. */
  sealed interface Answer extends RankTalk {}

  /** A rank obeys its order, and is not done. */
  record Alive() implements RankTalk {}

  /** A rank has its gradient, or has joined its neighbours; it goes on when it is told to. */
  record Ready() implements RankTalk {}

  /** A rank that begins cannot join the one at this place, and waits for the verdict. */
  record Missed(int place, String reason) implements RankTalk {}

  /** What a rank is told that is ready, or begins: once. */
  sealed interface Verdict extends RankTalk {}

  /** All are ready: exchange. */
  record Go() implements Verdict {}

  /** What they do is abandoned: the rank at this place is lost. */
  record Abandon(int place, String reason) implements Verdict {}

  /** What a process is told whose number another one has: it must end. */
  record Dismissed(String reason) implements RankTalk {}

  /**
   * The first thing a rank says.
   *
   * @param rank number, from 0
   * @param node whose agent started it; empty if the head did
   * @param process name of it there
   */
  record Report(int rank, String node, String process, long pid) implements RankTalk {}

  /** Leave the group, and listen for a new one. */
  record Listen() implements Order {}

  /**
   * Join the group, and begin.
   *
   * @param place in the group, from 0
   * @param addresses where each of the group listens, in the order of their places
   * @param folder with what the trainer has saved, on the rank's host
   */
  record Begin(int place, List<String> addresses, String folder) implements Order {}

  /** Take what the trainer has saved: so many files, which follow as bytes, in this order. */
  record Take(List<String> files) implements Order {}

  /** Make a step with the others. */
  record Step(RankShare share, Optimisation optimisation) implements Order {}

  /** It listens. */
  record Listening(String address) implements Answer {}

  /** It has taken the files, into this folder. */
  record Taken(String folder) implements Answer {}

  /** It has begun. */
  record Begun() implements Answer {}

  /** The weights moved; its pieces of weights and means follow as bytes. */
  record Moved(double norm, StepPart part) implements Answer {}

  /** No rank's weights moved; why this one has no gradient, if it has none. */
  record Refused(String reason) implements Answer {}

  /** Another one of the group is lost. */
  record Lost(int place, String reason) implements Answer {}

  /** It could not do it, by its own fault. */
  record Failed(String reason) implements Answer {}
}
