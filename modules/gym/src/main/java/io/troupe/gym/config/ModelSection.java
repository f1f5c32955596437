package io.troupe.gym.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.gym.model.ModelBudget;
import io.troupe.gym.model.ModelProtocol;
import io.troupe.gym.model.ModelSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The language model that writes rows, if one does. */
public record ModelSection(
    @Doc(
            "Protocol of its server: `openai` (`/chat/completions`, which most servers have, `troupe"
                + " serve` among them), `anthropic` (`/v1/messages`), `bedrock` (Converse, with"
                + " Amazon's credentials and region as the SDK finds them), or `none`, where a script"
                + " makes the rows.")
        @Default("none")
        Provider provider,
    @Doc("Address of its server, such as http://127.0.0.1:8000/v1; empty means Bedrock's own.")
        @Default("")
        String url,
    @Doc("Name of the model at its server.") @Default("") String model,
    @Doc("Environment variable that holds its key; empty means that it needs none.") @Default("")
        String keyVariable,
    @Doc("Sampling temperature.") @Default("0.7") @Range(min = 0, max = 2) double temperature,
    @Doc(value = "Most tokens of an answer.", unit = "tokens")
        @Default("2000")
        @Range(min = 1, max = 1_000_000)
        int maxTokens,
    @Doc(value = "Attempts at a question, while the server is busy or away.", unit = "attempts")
        @Default("5")
        @Range(min = 1, max = 100)
        int attempts,
    @Doc("How long an answer may take.") @Default("120s") @Range(min = 0, minExclusive = true)
        Duration timeout,
    @Doc(value = "Most calls of the gym; 0 sets no limit.", unit = "calls")
        @Default("0")
        @Range(min = 0)
        long mostCalls,
    @Doc(value = "Most tokens of questions and answers; 0 sets no limit.", unit = "tokens")
        @Default("0")
        @Range(min = 0)
        long mostTokens,
    @Doc(value = "Most money by the prices below; 0 sets no limit.", unit = "dollars")
        @Default("0")
        @Range(min = 0)
        double mostDollars,
    @Doc(value = "Price of a million tokens of questions.", unit = "dollars")
        @Default("0")
        @Range(min = 0)
        double inputPrice,
    @Doc(value = "Price of a million tokens of answers.", unit = "dollars")
        @Default("0")
        @Range(min = 0)
        double outputPrice,
    @Doc("Folder of answers that gyms share by the content of their questions; empty means none.")
        @Default("")
        @RelativeToFile
        String cache)
    implements Validated {
  /** The provider whose protocol the server has. */
  public enum Provider {
    NONE,
    OPENAI,
    ANTHROPIC,
    BEDROCK
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("url", "provider")
        .require(
            () ->
                provider == Provider.NONE
                    || (provider == Provider.BEDROCK && url.isEmpty())
                    || url.matches("https?://\\S+"),
            "must be the address of the model's server",
            "write it as http://127.0.0.1:8000/v1");
    rules
        .on("model", "provider")
        .require(
            () -> provider == Provider.NONE || !model.isEmpty(),
            "must name the model",
            "write the name that the server knows");
  }

  /** Whether a language model writes the rows. */
  public boolean writes() {
    return provider != Provider.NONE;
  }

  /**
   * Returns how it is asked.
   *
   * @param address of the server
   * @param apiKey value of the key's variable
   */
  public ModelSettings settings(URI address, Optional<String> apiKey) {
    return new ModelSettings(
        switch (provider) {
          case OPENAI -> ModelProtocol.OPENAI;
          case ANTHROPIC -> ModelProtocol.ANTHROPIC;
          case BEDROCK -> ModelProtocol.BEDROCK;
          case NONE -> throw new IllegalStateException("no language model is configured");
        },
        address,
        model,
        apiKey,
        temperature,
        maxTokens,
        attempts,
        new ModelSettings.Prices(inputPrice, outputPrice, timeout));
  }

  /** Returns what may be spent. */
  public ModelBudget budget() {
    return new ModelBudget(mostCalls, mostTokens, mostDollars);
  }

  /** Returns the folder of shared answers. */
  public Optional<Path> cacheFolder() {
    return cache.isEmpty() ? Optional.empty() : Optional.of(Path.of(cache));
  }
}
