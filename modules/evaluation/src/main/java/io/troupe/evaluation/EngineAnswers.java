package io.troupe.evaluation;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

/**
 * Samples with an engine of this process, whose weights are loaded. Many samples of a prompt are
 * asked for in parts of at most {@value #PART}, because an engine holds all of a request at once.
 */
public final class EngineAnswers implements AnswerSource {
  private static final int PART = 32;

  /** Samples parts of questions. */
  public interface PartSampler extends AutoCloseable {
    /**
     * Starts to sample.
     *
     * @param items content of each request
     * @return one stage a request, in order
     */
    List<CompletionStage<List<Answer>>> sample(
        List<SampleRequest> requests, List<EvaluationItem> items);

    @Override
    void close();
  }

  private final PartSampler sampler;
  private final Tokenizer tokenizer;
  private final IntSupplier chunksAtOnce;
  private final AtomicLong requests = new AtomicLong();

  /** Creates answers from the parts that a sampler makes. */
  public EngineAnswers(PartSampler sampler, Tokenizer tokenizer) {
    this(sampler, tokenizer, () -> 1);
  }

  private EngineAnswers(PartSampler sampler, Tokenizer tokenizer, IntSupplier chunksAtOnce) {
    this.sampler = sampler;
    this.tokenizer = tokenizer;
    this.chunksAtOnce = chunksAtOnce;
  }

  /**
   * Creates answers of one completion each.
   *
   * @param engine stays open when this is closed
   */
  public EngineAnswers(SamplingEngine engine, Tokenizer tokenizer) {
    this(engine, tokenizer, () -> 1);
  }

  /**
   * Creates answers of one completion each from several engines behind one.
   *
   * @param engine samples each chunk on an idle one of them; stays open when this is closed
   */
  public EngineAnswers(SamplingEngine engine, Tokenizer tokenizer, IntSupplier chunksAtOnce) {
    this(new Completions(engine, tokenizer), tokenizer, chunksAtOnce);
  }

  @Override
  public int chunksAtOnce() {
    return chunksAtOnce.getAsInt();
  }

  @Override
  public List<CompletionStage<List<Answer>>> answer(List<Question> questions) {
    List<SampleRequest> parts = new ArrayList<>();
    List<EvaluationItem> items = new ArrayList<>();
    List<Integer> partsOf = new ArrayList<>();
    for (Question question : questions) {
      int[] prompt = tokenizer.encodeWithSpecial(question.item().prompt().text());
      int before = parts.size();
      for (int done = 0; done < question.samples(); done += PART) {
        items.add(question.item());
        parts.add(
            new SampleRequest(
                new LeaseId(new GroupId(requests.incrementAndGet()), 1),
                prompt,
                Math.min(PART, question.samples() - done),
                question.item().sampling(),
                done == 0 ? question.seed() : mix(question.seed() + done)));
      }
      partsOf.add(parts.size() - before);
    }
    List<CompletionStage<List<Answer>>> sampled = sampler.sample(parts, items);
    List<CompletionStage<List<Answer>>> answers = new ArrayList<>();
    int next = 0;
    for (int i = 0; i < questions.size(); i++) {
      int end = next + partsOf.get(i);
      answers.add(joined(sampled.subList(next, end)));
      next = end;
    }
    return answers;
  }

  private static CompletionStage<List<Answer>> joined(List<CompletionStage<List<Answer>>> parts) {
    List<CompletableFuture<List<Answer>>> stages =
        parts.stream().map(CompletionStage::toCompletableFuture).toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .thenApply(_ -> stages.stream().flatMap(part -> part.join().stream()).toList());
  }

  @Override
  public void close() {
    sampler.close();
  }

  private record Completions(SamplingEngine engine, Tokenizer tokenizer) implements PartSampler {
    @Override
    public List<CompletionStage<List<Answer>>> sample(
        List<SampleRequest> requests, List<EvaluationItem> items) {
      List<CompletionStage<List<Completion>>> sampled = engine.sample(requests);
      return IntStream.range(0, items.size())
          .<CompletionStage<List<Answer>>>mapToObj(
              i ->
                  sampled
                      .get(i)
                      .thenApply(
                          all -> all.stream().map(each -> answer(items.get(i), each)).toList()))
          .toList();
    }

    private Answer answer(EvaluationItem item, Completion completion) {
      return new Answer(
          StopMatcher.cut(tokenizer.decode(completion.tokens()), item.sampling().stops()),
          completion.length(),
          completion.finishReason() == FinishReason.LENGTH ? Answer.LENGTH : Answer.STOP);
    }

    @Override
    public void close() {
      // The engine is the caller's.
    }
  }
}
