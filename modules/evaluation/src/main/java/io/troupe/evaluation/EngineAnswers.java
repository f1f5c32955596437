package io.troupe.evaluation;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
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

/**
 * Samples with an engine of this process, whose weights are loaded. Many samples of a prompt are
 * asked for in parts of at most {@value #PART}, because an engine holds all of a request at once.
 */
public final class EngineAnswers implements AnswerSource {
  private static final int PART = 32;

  private final SamplingEngine engine;
  private final Tokenizer tokenizer;
  private final AtomicLong requests = new AtomicLong();

  public EngineAnswers(SamplingEngine engine, Tokenizer tokenizer) {
    this.engine = engine;
    this.tokenizer = tokenizer;
  }

  @Override
  public List<CompletionStage<List<Answer>>> answer(List<Question> questions) {
    List<SampleRequest> parts = new ArrayList<>();
    List<Integer> partsOf = new ArrayList<>();
    for (Question question : questions) {
      int[] prompt = tokenizer.encodeWithSpecial(question.item().prompt().text());
      int before = parts.size();
      for (int done = 0; done < question.samples(); done += PART) {
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
    List<CompletionStage<List<Completion>>> sampled = engine.sample(parts);
    List<CompletionStage<List<Answer>>> answers = new ArrayList<>();
    int next = 0;
    for (int i = 0; i < questions.size(); i++) {
      int end = next + partsOf.get(i);
      answers.add(joined(questions.get(i).item(), sampled.subList(next, end)));
      next = end;
    }
    return answers;
  }

  private CompletionStage<List<Answer>> joined(
      EvaluationItem item, List<CompletionStage<List<Completion>>> parts) {
    List<CompletableFuture<List<Completion>>> stages =
        parts.stream().map(CompletionStage::toCompletableFuture).toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .thenApply(
            _ ->
                stages.stream()
                    .flatMap(part -> part.join().stream())
                    .map(completion -> answer(item, completion))
                    .toList());
  }

  private Answer answer(EvaluationItem item, Completion completion) {
    return new Answer(
        StopMatcher.cut(tokenizer.decode(completion.tokens()), item.sampling().stops()),
        completion.length(),
        completion.finishReason() == FinishReason.LENGTH ? Answer.LENGTH : Answer.STOP);
  }

  @Override
  public void close() {
    engine.close();
  }
}
