package io.troupe.ranks;

import io.troupe.accelerator.host.SocketRing;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.parallel.StatePiece;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.ranks.protocol.CopyPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/**
 * A rank's copies of the state in host memory: of its own piece, and of the piece of the rank
 * before it in the ring. So a lost rank's piece is left at the next one (as in Gemini, Wang et al.
 * 2023, with one replica).
 *
 * <p>A rank may be lost while copies are made, and others may have completed theirs. So there are
 * two generations, and the one of the last common step is never written to: 48 bytes for each
 * element of a piece.
 */
final class RankCopies implements AutoCloseable {
  private static final long ALIGNMENT = 64;

  /** Elements that are sent at once to a rank that lacks them. */
  private static final long PART = 1L << 20;

  private final boolean kept;
  private final LongAdder sent = new LongAdder();
  private final LongAdder nanos = new LongAdder();
  private Optional<Generation> last = Optional.empty();
  private Optional<Generation> before = Optional.empty();

  /** Copies of one step; complete if they have its mark. */
  private static final class Generation {
    private final Arena arena = Arena.ofShared();
    private final int place;
    private final int pieces;
    private final MemorySegment own;
    private final MemorySegment neighbours;
    private Optional<Long> mark = Optional.empty();

    Generation(int place, int pieces, long elements) {
      long bytes = elements * StatePiece.ARRAYS * Float.BYTES;
      this.place = place;
      this.pieces = pieces;
      this.own = arena.allocate(bytes, ALIGNMENT);
      this.neighbours = arena.allocate(bytes, ALIGNMENT);
    }

    boolean fits(int otherPlace, int otherPieces, long elements) {
      return place == otherPlace
          && pieces == otherPieces
          && own.byteSize() == elements * StatePiece.ARRAYS * Float.BYTES;
    }

    private int neighbour() {
      return Math.floorMod(place - 1, pieces);
    }

    List<CopyPlan.Held> held() {
      return mark.stream()
          .flatMap(
              of ->
                  List.of(
                      new CopyPlan.Held(of, place, pieces, elements()),
                      new CopyPlan.Held(of, neighbour(), pieces, elements()))
                      .stream())
          .toList();
    }

    boolean isOf(long step) {
      return mark.equals(Optional.of(step));
    }

    StatePiece piece(int index) {
      MemorySegment memory = index == place ? own : neighbours;
      return StatePiece.in(memory, index * elements());
    }

    long elements() {
      return own.byteSize() / StatePiece.ARRAYS / Float.BYTES;
    }
  }

  /**
   * Copies of which none is made yet.
   *
   * @param kept whether any is to be made; without copies a lost rank costs the steps since the
   *     last saved state
   */
  RankCopies(boolean kept) {
    this.kept = kept;
  }

  /** Returns the mark of a new attempt at a step, which no other one has, also of other runs. */
  static long newMark() {
    return ThreadLocalRandom.current().nextLong();
  }

  /** Returns the bytes of copies that were sent to the next rank. */
  long sentBytes() {
    return sent.sum();
  }

  /** Returns the time that copies took. */
  Duration time() {
    return Duration.ofNanos(nanos.sum());
  }

  /** Returns the complete copies. */
  List<CopyPlan.Held> held() {
    List<CopyPlan.Held> held = new ArrayList<>();
    last.ifPresent(generation -> held.addAll(generation.held()));
    before.ifPresent(generation -> held.addAll(generation.held()));
    return held;
  }

  /**
   * Copies the state after a step, and exchanges copies with both neighbours, if copies are kept.
   *
   * @throws RankLostException if a neighbour is lost: the copies of the step before are as they
   *     were
   */
  void keep(long mark, TrainerRank rank, SocketRing ring) throws RankLostException {
    if (!kept) {
      return;
    }
    long elements = rank.pieceElements();
    Generation next =
        before
            .filter(old -> old.fits(ring.rank(), ring.size(), elements))
            .orElseGet(() -> replaced(ring, elements));
    long start = System.nanoTime();
    next.mark = Optional.empty();
    rank.copyTo(next.piece(ring.rank()));
    ring.passOn(next.own, next.neighbours);
    next.mark = Optional.of(mark);
    sent.add(next.own.byteSize());
    nanos.add(System.nanoTime() - start);
    before = last;
    last = Optional.of(next);
  }

  private Generation replaced(SocketRing ring, long elements) {
    before.ifPresent(old -> old.arena.close());
    Generation made = new Generation(ring.rank(), ring.size(), elements);
    before = Optional.of(made);
    return made;
  }

  /**
   * Takes the state after a step from the copies of the group, and copies it again, so that the
   * next loss costs no more than this one.
   *
   * @param ring of the group; empty if that has one rank
   */
  void take(CopyPlan plan, TrainerRank rank, Collective group, Optional<SocketRing> ring)
      throws RankLostException {
    if (before.filter(old -> old.isOf(plan.mark())).isPresent()) {
      Optional<Generation> abandoned = last;
      last = before;
      before = abandoned;
    }
    Optional<Generation> source = last.filter(copies -> copies.isOf(plan.mark()));
    boolean sameCut = plan.givers().size() == group.size();
    for (int piece = 0; piece < plan.givers().size(); piece++) {
      int giver = plan.givers().get(piece);
      if (!sameCut || giver != piece) {
        send(piece, plan, source, rank, group);
      } else if (giver == group.rank()) {
        rank.take(source.orElseThrow().piece(piece));
      }
    }
    rank.continueAfter(plan.steps());
    if (ring.isPresent()) {
      keep(plan.nextMark(), rank, ring.get());
    }
  }

  /** Sends a piece to all, part by part; each takes what it needs. */
  private static void send(
      int piece, CopyPlan plan, Optional<Generation> source, TrainerRank rank, Collective group)
      throws RankLostException {
    int giver = plan.givers().get(piece);
    long elements = plan.elements();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory =
          arena.allocate(Math.min(PART, elements) * StatePiece.ARRAYS * Float.BYTES, ALIGNMENT);
      for (long at = 0; at < elements; at += PART) {
        long count = Math.min(PART, elements - at);
        MemorySegment sent = memory.asSlice(0, count * StatePiece.ARRAYS * Float.BYTES);
        StatePiece part = StatePiece.in(sent, piece * elements + at);
        if (giver == group.rank()) {
          part.take(source.orElseThrow().piece(piece));
        }
        group.broadcast(Span.floats(sent), giver);
        rank.take(part);
      }
    }
  }

  @Override
  public void close() {
    last.ifPresent(copies -> copies.arena.close());
    before.ifPresent(copies -> copies.arena.close());
    last = Optional.empty();
    before = Optional.empty();
  }
}
