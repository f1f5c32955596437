package io.troupe.run.console;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.TurnEnd;
import io.troupe.console.chat.Chat;
import io.troupe.console.chat.ChatRequest;
import io.troupe.core.prompt.Prompt;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.runtime.AdHocSampling;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/** The policy of the run of this process, answering in texts. */
public final class PolicyChat implements Chat {
  /** The most characters of an example, which is there to be read and changed. */
  private static final int MOST_CHARACTERS = 4_000;

  private final AdHocSampling tryout;
  private final Tokenizer tokenizer;
  private final Optional<? extends ChatTemplate> template;
  private final SamplingSettings sampling;
  private final LongSupplier seeds;
  private final Open offer;

  /**
   * A policy that answers.
   *
   * @param contextLength most tokens of prompt and answer together
   * @param template of its chat messages, if it has one
   * @param sampling of the run's rollouts; answers differ in temperature and length only
   * @param heldOut prompts that the run does not train on
   * @param seeds one for each answer
   */
  public PolicyChat(
      AdHocSampling tryout,
      Tokenizer tokenizer,
      int contextLength,
      Optional<? extends ChatTemplate> template,
      SamplingSettings sampling,
      List<Prompt> heldOut,
      LongSupplier seeds) {
    this.tryout = tryout;
    this.tokenizer = tokenizer;
    this.template = template;
    this.sampling = sampling;
    this.seeds = seeds;
    int most = Math.max(1, Math.min(ChatRequest.MOST_TOKENS, contextLength - 1));
    this.offer =
        new Open(
            contextLength,
            template.isPresent(),
            Math.min(sampling.temperature(), ChatRequest.HOTTEST),
            Math.min(sampling.maxTokens(), most),
            most,
            heldOut.stream()
                .map(Prompt::text)
                .filter(text -> text.length() <= MOST_CHARACTERS)
                .findFirst()
                .orElse(""));
  }

  @Override
  public Offer offer() {
    return offer;
  }

  @Override
  public Begin begin(ChatRequest ask) {
    int[] prompt;
    try {
      prompt = tokenizer.encodeWithSpecial(text(ask));
    } catch (IllegalArgumentException unfit) {
      return new Refused(Why.UNFIT, unreadable(String.valueOf(unfit.getMessage())));
    }
    Optional<String> objection = ChatRequest.objection(prompt.length, offer.contextLength());
    if (objection.isPresent()) {
      return new Refused(Why.UNFIT, objection.get());
    }
    SamplingSettings settings = settings(ask, prompt.length);
    SampledText text = new SampledText(tokenizer, settings.stops(), prompt.length);
    try {
      return switch (tryout.begin(prompt, settings, seeds.getAsLong(), text)) {
        case AdHocSampling.Sampling begun -> new Begun(text.follow(begun));
        case AdHocSampling.Busy _ ->
            new Refused(Why.BUSY, "another question is being answered; ask again when it is done");
        case AdHocSampling.NoWeights _ ->
            new Refused(
                Why.NOT_NOW, "the run has published no weights yet; ask again when it samples");
      };
    } catch (IllegalStateException closed) {
      return new Refused(Why.NOT_NOW, "the run is ending: " + closed.getMessage());
    }
  }

  private String text(ChatRequest ask) {
    return ask.template()
        ? template
            .orElseThrow(() -> new IllegalArgumentException("this policy has no chat template"))
            .render(List.of(ChatTemplate.Message.user(ask.prompt())), true, Map.of())
        : tokenizer.withTextStart(ask.prompt());
  }

  private String unreadable(String why) {
    return tokenizer instanceof CharacterTokenizer characters
        ? "this policy has the characters of its task alone, which are %s: %s"
            .formatted(characters.alphabet(), why)
        : why;
  }

  private SamplingSettings settings(ChatRequest ask, int promptTokens) {
    SamplingSettings settings =
        new SamplingSettings(
            ask.temperature(),
            sampling.topP(),
            sampling.topK(),
            sampling.minP(),
            sampling.repetitionPenalty(),
            ask.room(promptTokens, offer.contextLength()),
            sampling.stopIds(),
            sampling.stops(),
            false);
    TurnEnd end =
        ask.template() && template.isPresent()
            ? TurnEnd.of(template.get(), tokenizer)
            : new TurnEnd.Unmarked();
    return settings.within(0, end.stops()).stoppingAt(end.stopIds());
  }
}
