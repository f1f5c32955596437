package io.troupe.verifiers.math;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Excerpt;
import io.troupe.verifiers.GoldReading;
import io.troupe.verifiers.JudgedText;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.math.compare.AnswerEquivalence;
import io.troupe.verifiers.math.compare.ComparisonResult;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Rewards a completion whose answer means the same as the prompt's: 1, else 0.
 *
 * <p>The prompt's answer is the bare answer, or a worked solution that ends in {@code \boxed{…}} or
 * {@code #### …}. The completion's is what the first anchor finds that finds anything. What counts
 * as the same is listed, with examples, in {@code docs/verifiers.md}.
 *
 * <p>One completion is one guess: no anchor looks at the expected answer to choose what it reads.
 *
 * <p>Work is bounded by counted steps, so that no completion takes longer than a tenth of a second,
 * whatever it holds: what does not fit is wrong, and the reason says "too large to evaluate".
 *
 * @param anchors places where the answer is read, most binding first
 * @param mode value of several answers
 */
public record MathVerifier(List<AnswerAnchor> anchors, Mode mode) implements Verifier {
  private static final List<String> ENDS =
      List.of("</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<eos>");

  /** More boxes than these, with different texts, are not compared with each other. */
  private static final int MOST_DISTINCT_BOXES = 6;

  /** The value of several answers. */
  public enum Mode {
    /**
     * The last box revises those before it. Boxes side by side, with nothing said between them, are
     * one answer of several parts: right if all agree, or if together they are the set that is
     * asked for. What is read depends on the completion alone, so that however many guesses it
     * holds, in whatever order, one of them counts. The mode to train with.
     */
    ONE_ANSWER,
    /**
     * There must be one answer at the anchor that comes last in the text, whatever their order;
     * Markdown's emphasis ends an answer.
     */
    LATEST_ANSWER,
    /** The last answer counts, as in evaluation harnesses. */
    LAST_ANSWER
  }

  public MathVerifier {
    anchors = List.copyOf(anchors);
    require(
        !anchors.isEmpty(),
        "the math verifier needs at least one anchor; name one of %s",
        List.of(AnswerAnchor.values()));
    require(
        Set.copyOf(anchors).size() == anchors.size(),
        "each anchor of the math verifier counts once, but one of %s is there twice; remove it",
        anchors);
  }

  /** The reading of answers: for training, or as the common evaluations do. */
  public enum Reading {
    /** A tag, a box, {@code ####} or "the answer is"; never just the last number. */
    TRAINING,
    /** An anchor of {@link #TRAINING}, or "Answer: …", whichever comes last: for measurements. */
    EVALUATION,
    /** Hendrycks's MATH evaluation, and verl's: the last box. */
    HENDRYCKS,
    /** Minerva's evaluation in lm-evaluation-harness: its sentence. */
    MINERVA,
    /** open-instruct: a box or Minerva's sentence, else the last formula, else all. */
    OPEN_INSTRUCT,
    /** Qwen2.5-Math's evaluation, last number included. */
    QWEN,
    /** DAPO: the last line "Answer: …". */
    DAPO;

    /** The verifier that reads so. */
    public MathVerifier verifier() {
      return switch (this) {
        case TRAINING ->
            of(
                Mode.ONE_ANSWER,
                AnswerAnchor.ANSWER_TAG,
                AnswerAnchor.BOX,
                AnswerAnchor.HASHES,
                AnswerAnchor.ANSWER_IS);
        case EVALUATION ->
            of(
                Mode.LATEST_ANSWER,
                AnswerAnchor.ANSWER_TAG,
                AnswerAnchor.BOX,
                AnswerAnchor.HASHES,
                AnswerAnchor.ANSWER_IS,
                AnswerAnchor.ANSWER_SAYS);
        case HENDRYCKS -> of(Mode.LAST_ANSWER, AnswerAnchor.BOX);
        case MINERVA -> of(Mode.LAST_ANSWER, AnswerAnchor.MINERVA);
        case OPEN_INSTRUCT ->
            of(
                Mode.LAST_ANSWER,
                AnswerAnchor.BOX_OR_MINERVA,
                AnswerAnchor.DOLLARS,
                AnswerAnchor.WHOLE_TEXT);
        case QWEN ->
            of(
                Mode.LAST_ANSWER,
                AnswerAnchor.MINERVA,
                AnswerAnchor.BOX,
                AnswerAnchor.ANSWER_IS,
                AnswerAnchor.LAST_NUMBER);
        case DAPO -> of(Mode.LAST_ANSWER, AnswerAnchor.ANSWER_COLON);
      };
    }

    private static MathVerifier of(Mode mode, AnswerAnchor... anchors) {
      return new MathVerifier(List.of(anchors), mode);
    }
  }

  /** To train with. */
  public static MathVerifier training() {
    return Reading.TRAINING.verifier();
  }

  @Override
  public Verdict verify(Prompt prompt, JudgedText completion) {
    boolean tags = completion.tagged() && anchors.contains(AnswerAnchor.ANSWER_TAG);
    return verify(prompt, tags ? AnswerAnchor.tagged(completion.text()) : completion.text());
  }

  @Override
  public Verdict verify(Prompt prompt, String judged) {
    Optional<String> gold = gold(prompt.answer()).filter(AnswerEquivalence::isGold);
    if (gold.isEmpty()) {
      return broken(prompt, "holds no answer");
    }
    if (gold.get().length() > ParsedAnswer.MOST_CHARACTERS) {
      return broken(
          prompt, "is longer than %,d characters".formatted(ParsedAnswer.MOST_CHARACTERS));
    }
    String text = withoutEnd(judged);
    for (AnswerAnchor anchor : mode == Mode.LATEST_ANSWER ? fromTheLast(text) : anchors) {
      String boxed = anchor == AnswerAnchor.ANSWER_TAG ? AnswerAnchor.inTag(text) : text;
      boolean parts = hasParts(anchor, boxed);
      List<String> found = parts ? BoxedAnswers.last(boxed) : find(anchor, text);
      if (mode != Mode.LAST_ANSWER) {
        found = found.stream().map(AnnouncedAnswer::of).toList();
      }
      if (!found.isEmpty()) {
        return parts ? boxes(prompt, gold.get(), found) : any(prompt, gold.get(), found);
      }
      if (parts && BoxedAnswers.isIn(boxed)) {
        return new Verdict.Scored(0, "", "the last box is empty or not closed");
      }
    }
    return new Verdict.Scored(0, "", "no answer found");
  }

  /** Whether an anchor's answer may be in several boxes, side by side. */
  private boolean hasParts(AnswerAnchor anchor, String boxed) {
    boolean inTag = anchor == AnswerAnchor.ANSWER_TAG && BoxedAnswers.isIn(boxed);
    return mode != Mode.LAST_ANSWER && (anchor == AnswerAnchor.BOX || inTag);
  }

  /**
   * Returns the anchors from the last one in the text on. A sentence without a digit or a command
   * ("so the answer is correct") comes after all others: it seldom names an answer.
   */
  private List<AnswerAnchor> fromTheLast(String text) {
    return anchors.stream()
        .sorted(
            Comparator.comparing((AnswerAnchor anchor) -> namesAnAnswer(anchor, text))
                .thenComparingInt(anchor -> position(anchor, text))
                .reversed())
        .toList();
  }

  /** What a box or a tag holds is found there, whatever words are in it. */
  private static int position(AnswerAnchor anchor, String text) {
    int at = anchor.position(text);
    boolean inBox =
        anchor != AnswerAnchor.BOX
            && anchor != AnswerAnchor.ANSWER_TAG
            && BoxedAnswers.isInLast(text, at);
    int tag = AnswerAnchor.ANSWER_TAG.position(text);
    boolean inTag =
        anchor != AnswerAnchor.ANSWER_TAG
            && tag >= 0
            && at > tag
            && text.indexOf("</answer>", at) > 0;
    return inBox || inTag ? -1 : at;
  }

  private List<String> find(AnswerAnchor anchor, String text) {
    return mode == Mode.LATEST_ANSWER
        ? anchor.emphasised(text).map(List::of).orElseGet(() -> anchor.find(text))
        : anchor.find(text);
  }

  private static boolean namesAnAnswer(AnswerAnchor anchor, String text) {
    return anchor == AnswerAnchor.BOX
        ? BoxedAnswers.isIn(text)
        : anchor.find(text).stream()
            .anyMatch(found -> found.chars().anyMatch(c -> c == '\\' || Character.isDigit(c)));
  }

  /** Returns how a prompt's answer is read. */
  static GoldReading readingOf(String answer) {
    return gold(answer).map(AnswerEquivalence::readingOf).orElse(GoldReading.NONE);
  }

  /** The answer of a bare answer or of a worked solution. */
  static Optional<String> gold(String written) {
    String answer = ListedGold.of(written);
    if (BoxedAnswers.isIn(answer)) {
      List<String> boxes = BoxedAnswers.all(answer);
      return boxes.isEmpty() ? Optional.empty() : Optional.of(boxes.getLast());
    }
    return answer.contains("####")
        ? AnswerAnchor.HASHES.find(answer).stream().findFirst()
        : Optional.of(answer);
  }

  /** Special tokens at the end are no part of an answer. */
  private static String withoutEnd(String text) {
    String rest = text.stripTrailing();
    for (String end : ENDS) {
      if (rest.endsWith(end)) {
        return withoutEnd(rest.substring(0, rest.length() - end.length()));
      }
    }
    return rest;
  }

  /** Judges a completion right if any of the candidates is; else gives the reason of the first. */
  private static Verdict any(Prompt prompt, String gold, List<String> candidates) {
    StepBudget budget = new StepBudget();
    Optional<Verdict> first = Optional.empty();
    for (String candidate : candidates) {
      Verdict verdict =
          verdict(prompt, candidate, AnswerEquivalence.compare(gold, candidate, budget));
      if (verdict instanceof Verdict.Scored scored && scored.passed()) {
        return verdict;
      }
      first = first.or(() -> Optional.of(verdict));
    }
    return first.orElseThrow();
  }

  private static Verdict boxes(Prompt prompt, String gold, List<String> boxes) {
    List<String> distinct = new ArrayList<>(new LinkedHashSet<>(boxes));
    if (distinct.size() == 1) {
      return any(prompt, gold, distinct);
    }
    String last = boxes.getLast();
    if (distinct.size() > MOST_DISTINCT_BOXES) {
      return several(last);
    }
    StepBudget budget = new StepBudget();
    boolean agree =
        distinct.stream().allMatch(box -> AnswerEquivalence.compare(last, box, budget).isEqual());
    if (agree) {
      return verdict(prompt, last, AnswerEquivalence.compare(gold, last, budget));
    }
    String together = String.join(", ", distinct);
    return AnswerEquivalence.compare(gold, together, budget).isEqual()
        ? new Verdict.Scored(1, Excerpt.of(together), "the boxes together hold the answers")
        : several(last);
  }

  private static Verdict several(String last) {
    return new Verdict.Scored(
        0, Excerpt.of(last), "several boxes side by side hold different answers");
  }

  private static Verdict verdict(Prompt prompt, String answer, ComparisonResult finding) {
    return switch (finding.kind()) {
      case EQUAL -> new Verdict.Scored(1, Excerpt.of(answer), finding.reason());
      case DIFFERENT -> new Verdict.Scored(0, Excerpt.of(answer), finding.reason());
      case GOLD_TOO_LARGE -> broken(prompt, "is too large to evaluate");
    };
  }

  private static Verdict broken(Prompt prompt, String what) {
    return new Verdict.Unverifiable(
        Verdict.Cause.BAD_INPUT,
        "the answer of prompt %s %s: %s".formatted(prompt.id(), what, Excerpt.of(prompt.answer())));
  }
}
