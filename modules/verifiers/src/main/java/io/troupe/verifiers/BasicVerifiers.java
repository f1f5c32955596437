package io.troupe.verifiers;

import io.troupe.core.reward.JudgedBy;
import io.troupe.verifiers.FormatVerifier.Shape;
import java.util.List;

/** The verifiers that need only the text of a completion. */
public final class BasicVerifiers implements VerifierFamily {
  @Override
  public List<VerifierProvider> providers() {
    return List.of(
        new BuiltInVerifier(
            "numeric",
            "one number and nothing else, equal to the answer",
            new JudgedBy.OneAnswer(),
            Isolation.LINEAR,
            options ->
                new NumericVerifier(
                    options.flag("padded", false), options.flag("reversed", false))),
        new BuiltInVerifier(
            "choice",
            "the letter of a multiple choice, alone or after \"answer is\"",
            new JudgedBy.OneAnswer(),
            Isolation.LINEAR,
            _ -> new ChoiceVerifier()),
        new BuiltInVerifier(
            "text",
            "one of the accepted texts, a line each; ignore_case=true compares without case",
            new JudgedBy.AcceptedTexts(),
            Isolation.LINEAR,
            options -> new TextVerifier(options.flag("ignore_case", false))),
        new BuiltInVerifier(
            "format",
            "the shape of a completion, whatever it says: for mixed rewards",
            new JudgedBy.AnyAnswer(),
            Isolation.LINEAR,
            false,
            false,
            ThoughtReading.KEEP,
            options -> new FormatVerifier(options.choice("shape", Shape.THINK_ANSWER))));
  }
}
