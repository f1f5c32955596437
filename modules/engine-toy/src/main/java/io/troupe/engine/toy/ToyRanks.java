package io.troupe.engine.toy;

import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TrainingSequence;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankGroups;
import io.troupe.engine.parallel.RankLostException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * The data-parallel ranks of a toy trainer, a thread each: a rank has all weights, every n-th
 * sequence of a step, and a shard of the optimizer.
 *
 * <p>After every step the trainer takes up weights and means, so that what it publishes and what
 * its checkpoints hold is whole, whatever the number of ranks. When a rank is lost, the step is
 * abandoned: all ranks begin anew from those, in a new group, and the same batch is tried once
 * more. Nothing of it had moved the trainer.
 */
final class ToyRanks implements AutoCloseable {
  private static final int ATTEMPTS = 2;
  private static final long NONE = -1;

  private final SumTable model;
  private final int size;
  private final RankGroups groups;
  private final ExecutorService threads;
  private List<Seat> seats = List.of();

  /** Which of the trainer's weights the ranks went on from; with others they begin anew. */
  private long origin = NONE;

  /** A rank and its connection. */
  private record Seat(Collective connection, ToyRank rank) {}

  /** A step's sequences; references are none without a penalty in the loss. */
  record Batch(
      List<TrainingSequence> rollouts,
      List<double[]> references,
      List<TrainingSequence> examples,
      LossSettings loss) {}

  /** What a rank made of its part. */
  private record Part(TableGradient gradient, double norm) {}

  ToyRanks(SumTable model, int size, RankGroups groups) {
    this.model = model;
    this.size = size;
    this.groups = groups;
    this.threads =
        Executors.newFixedThreadPool(
            size, Thread.ofPlatform().daemon().name("trainer-rank-", 0).factory());
  }

  /** One step of the trainer. */
  StepOutcome train(ToyTrainer trainer, Batch batch, Optimisation o) {
    String lost = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        return step(trainer, batch, o);
      } catch (RankLostException | IOException failure) {
        leave();
        lost = String.valueOf(failure.getMessage());
        groups.lost(lost);
      }
    }
    return new StepOutcome.Skipped(lost);
  }

  private StepOutcome step(ToyTrainer trainer, Batch batch, Optimisation o)
      throws RankLostException, IOException {
    long start = System.nanoTime();
    if (origin != trainer.origin()) {
      leave();
      join(trainer);
    }
    List<Part> parts = parts(batch, o);
    double norm = parts.getFirst().norm();
    if (!Double.isFinite(norm)) {
      return new StepOutcome.Skipped("the norm of the gradient is " + norm);
    }
    AdamW means = AdamW.fresh(model.parameters());
    seats.forEach(seat -> seat.rank().optimizer().give(means.first(), means.second()));
    trainer.adopt(
        seats.getFirst().rank().weights().clone(),
        new AdamW(means.first(), means.second(), seats.getFirst().rank().optimizer().steps()));
    TableGradient whole = parts.getFirst().gradient();
    parts.stream().skip(1).forEach(part -> whole.absorb(part.gradient()));
    return new StepOutcome.Stepped(
        whole.loss().metrics(),
        whole.entropy(),
        norm,
        0,
        new StepOutcome.Times((System.nanoTime() - start) / 1e9, 0, 0),
        whole.loss().marks(batch.rollouts()));
  }

  private void join(ToyTrainer trainer) throws IOException {
    List<Seat> joined = new ArrayList<>();
    AdamW means = trainer.optimizer();
    for (Collective connection : groups.open(size)) {
      ToyRank rank = new ToyRank(model, trainer.weights().clone(), connection);
      rank.optimizer().take(means.first(), means.second(), means.steps());
      joined.add(new Seat(connection, rank));
    }
    seats = List.copyOf(joined);
    origin = trainer.origin();
  }

  private List<Part> parts(Batch batch, Optimisation o) throws RankLostException {
    List<Future<Part>> running =
        IntStream.range(0, size)
            .mapToObj(rank -> threads.submit(() -> part(rank, batch, o)))
            .toList();
    List<Part> parts = new ArrayList<>();
    List<RankLostException> losses = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      try {
        parts.add(running.get(rank).get());
      } catch (ExecutionException failed) {
        if (failed.getCause() instanceof RankLostException lost) {
          losses.addLast(lost);
        } else { // The one at fault; the others only miss it.
          losses.addFirst(new RankLostException(rank, String.valueOf(failed.getCause()), failed));
        }
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new RankLostException(rank, "the trainer is stopped", stopped);
      }
    }
    if (!losses.isEmpty()) {
      throw losses.getFirst();
    }
    return parts;
  }

  /** A rank that fails leaves its group at once, so that the others need not wait for it. */
  private Part part(int rank, Batch batch, Optimisation o) throws RankLostException {
    Seat seat = seats.get(rank);
    boolean done = false;
    try {
      TableGradient gradient = seat.rank().gradient();
      boolean finite = true;
      for (int i = rank; i < batch.rollouts().size(); i += size) {
        double[] reference =
            batch.references().isEmpty() ? new double[0] : batch.references().get(i);
        finite &= gradient.rollout(batch.loss(), batch.rollouts().get(i), reference);
      }
      for (int i = rank; i < batch.examples().size(); i += size) {
        finite &= gradient.example(batch.examples().get(i), batch.loss().supervisedCoefficient());
      }
      Part part = new Part(gradient, seat.rank().move(gradient, finite, o));
      done = true;
      return part;
    } finally {
      if (!done) {
        seat.connection().close();
      }
    }
  }

  private void leave() {
    seats.forEach(
        seat -> {
          seat.connection().close();
          seat.rank().close();
        });
    seats = List.of();
    origin = NONE;
  }

  @Override
  public void close() {
    threads.close();
    leave();
  }
}
