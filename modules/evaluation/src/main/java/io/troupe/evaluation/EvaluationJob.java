package io.troupe.evaluation;

import io.troupe.base.failure.Causes;
import io.troupe.core.evaluation.PromptSeed;
import io.troupe.core.evaluation.PromptTally;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * Samples and judges the prompts of an evaluation, in order, and writes each prompt's lines once
 * they are whole.
 *
 * <p>Prompts are sampled in chunks of at most {@value #CHUNK} completions, each on an idle engine
 * (where many engines answer, as many chunks at a time as the source takes): the composition of a
 * batch has an influence on the last digits of its numbers, so that only equal chunks give equal
 * completions. An evaluation that continues samples the chunk it was interrupted in again from its
 * first prompt, and writes those prompts that are not in the files yet. So its files are those of
 * an evaluation that was never interrupted.
 */
public final class EvaluationJob {
  static final int CHUNK = 512;

  /** Sampled prompts wait for their verifiers in memory. */
  private static final int MOST_CHUNKS_UNJUDGED = 4;

  /** Shows how far an evaluation is. */
  public interface EvaluationProgress {
    /**
     * Notes that the files hold one more prompt.
     *
     * @param done prompts of this task
     * @param all prompts of this task in this shard
     * @param judged sums of this task's prompts that this process judged
     */
    void wrote(EvaluationTask task, int done, int all, PromptTally judged);
  }

  /** Opens the verifiers of a task; who made this closes them. */
  @FunctionalInterface
  public interface TaskVerifiers {
    VerifierService open(EvaluationTask task) throws IOException;
  }

  /** The reason why a policy cannot be evaluated further; what was done is kept. */
  public static final class SamplingFailedException extends IOException {
    private static final long serialVersionUID = 1;

    SamplingFailedException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** A part of a task whose sampling has begun. */
  private record Chunk(
      int from, List<EvaluationItem> items, List<CompletionStage<List<Answer>>> answers) {}

  private record Open(
      EvaluationItem item, List<Answer> answers, List<CompletableFuture<Verdict>> verdicts) {}

  private final EvaluationProtocol protocol;
  private final AnswerSource source;
  private final TaskVerifiers verifiers;
  private final CompletableFuture<?> stop;
  private final EvaluationProgress progress;

  /**
   * An evaluation that has not begun.
   *
   * @param stop completes when a person wants it to end
   */
  public EvaluationJob(
      EvaluationProtocol protocol,
      AnswerSource source,
      TaskVerifiers verifiers,
      CompletableFuture<?> stop,
      EvaluationProgress progress) {
    this.protocol = protocol;
    this.source = source;
    this.verifiers = verifiers;
    this.stop = stop;
    this.progress = progress;
  }

  /**
   * Runs until all is done and summed up, or it is stopped.
   *
   * @param resume whether the folder may hold a part of this evaluation
   * @return whether all is done
   */
  public boolean run(Path path, boolean resume, Clock clock) throws IOException {
    EvaluationFolder folder = EvaluationFolder.open(path, protocol, resume, clock.instant());
    if (folder.isComplete()) {
      return true;
    }
    SampleFiles.Recovered recovered = SampleFiles.open(folder, this::heads);
    EvaluationCounts counts = EvaluationCounts.before(protocol);
    boolean whole = true;
    try (SampleFiles files = recovered.files()) {
      int done = recovered.prompts();
      for (EvaluationTask task : protocol.tasks()) {
        int size = protocol.items(task).size();
        if (whole && done < size) {
          whole = new TaskLoop(task, verifiers.open(task), files, counts).run(done);
        }
        done = Math.max(0, done - size);
      }
    }
    if (whole && recovered.prompts() == 0) {
      new SummaryWriter(folder).write(clock.instant(), counts);
    } else if (whole) {
      new SummaryWriter(folder).write(clock.instant());
    }
    return whole;
  }

  private Iterator<List<String>> heads() {
    return protocol.tasks().stream()
        .flatMap(
            task -> {
              EvaluationLines lines = EvaluationFolder.lines(protocol.tasks(), task);
              return protocol.items(task).stream().map(item -> lines.heads(item, task.samples()));
            })
        .iterator();
  }

  /** The prompts of one task in this shard. */
  private final class TaskLoop {
    private final EvaluationTask task;
    private final List<EvaluationItem> items;
    private final EvaluationLines lines;
    private final VerifierService verifier;
    private final SampleFiles files;
    private final EvaluationCounts counts;
    private final Deque<Open> open = new ArrayDeque<>();
    private final Deque<Chunk> begun = new ArrayDeque<>();
    private PromptTally sums = PromptTally.NONE;
    private int written;
    private int next;

    TaskLoop(
        EvaluationTask task, VerifierService verifier, SampleFiles files, EvaluationCounts counts) {
      this.task = task;
      this.items = protocol.items(task);
      this.lines = EvaluationFolder.lines(protocol.tasks(), task);
      this.verifier = verifier;
      this.files = files;
      this.counts = counts;
    }

    /** Samples and judges the rest; returns whether the evaluation came to its end. */
    boolean run(int done) throws IOException {
      written = done;
      int size = Math.max(1, CHUNK / task.samples());
      next = done / size * size;
      begin(size);
      while (!begun.isEmpty()) {
        Chunk chunk = begun.remove();
        for (int i = 0; i < chunk.items().size(); i++) {
          if (!sampled(chunk.items().get(i), chunk.answers().get(i), chunk.from() + i < done)) {
            return false;
          }
          writeJudged();
        }
        if (!writeUntil(MOST_CHUNKS_UNJUDGED * size)) {
          return false;
        }
        begin(size);
      }
      return writeUntil(0);
    }

    /** Begins as many chunks as the source takes, the first ones first. */
    private void begin(int size) {
      AnswerSource answering = source.forTask(task);
      int most = Math.max(1, answering.chunksAtOnce());
      while (next < items.size() && begun.size() < most) {
        List<EvaluationItem> some = items.subList(next, Math.min(next + size, items.size()));
        begun.add(
            new Chunk(next, some, answering.answer(some.stream().map(this::question).toList())));
        next += size;
      }
    }

    /**
     * Waits until at most a number of prompts are unjudged; false if the evaluation was stopped
     * before.
     */
    private boolean writeUntil(int most) throws IOException {
      while (open.size() > most) {
        List<CompletableFuture<Verdict>> first = open.element().verdicts();
        if (!finished(CompletableFuture.allOf(first.toArray(CompletableFuture[]::new)))) {
          return false;
        }
        writeJudged();
      }
      return true;
    }

    private Question question(EvaluationItem item) {
      return new Question(item, task.samples(), PromptSeed.of(protocol.seed(), item.id()));
    }

    private boolean sampled(
        EvaluationItem item, CompletionStage<List<Answer>> stage, boolean inFiles)
        throws IOException {
      CompletableFuture<List<Answer>> answers = stage.toCompletableFuture();
      try {
        if (!finished(answers)) {
          return false;
        }
        if (!inFiles) {
          open.add(new Open(item, answers.join(), judged(item, answers.join())));
        }
        return true;
      } catch (CompletionException failure) {
        Throwable cause = Causes.of(failure);
        throw new SamplingFailedException(
            "task %s: prompt %s was not sampled: %s; what was done is kept, and --resume continues"
                .formatted(task.name(), item.id(), cause.getMessage()),
            cause);
      }
    }

    private List<CompletableFuture<Verdict>> judged(EvaluationItem item, List<Answer> answers) {
      return answers.stream()
          .map(
              answer ->
                  verifier
                      .verify(item.prompt(), answer.judged(item.prompt()))
                      .toCompletableFuture())
          .toList();
    }

    /** Waits for work, unless a person wants the end first. */
    private boolean finished(CompletableFuture<?> work) throws IOException {
      if (!work.isDone()) {
        files.flush();
        CompletableFuture.anyOf(stop, work).join();
      }
      return !stop.isDone();
    }

    private void writeJudged() throws IOException {
      while (!open.isEmpty()
          && open.element().verdicts().stream().allMatch(CompletableFuture::isDone)) {
        write(open.remove());
      }
    }

    private void write(Open prompt) throws IOException {
      for (int sample = 0; sample < prompt.answers().size(); sample++) {
        Answer answer = prompt.answers().get(sample);
        Verdict verdict = prompt.verdicts().get(sample).join();
        files.add(lines, prompt.item(), sample, answer, verdict);
        counts.judged(task, prompt.item(), answer, verdict);
        sums =
            verdict instanceof Verdict.Scored scored
                ? sums.judged(scored.reward(), scored.passed(), answer.truncated())
                : sums.unjudged(answer.truncated());
      }
      written++;
      progress.wrote(task, written, items.size(), sums);
    }
  }
}
