package io.troupe.gym.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.base.files.AtomicFile;
import io.troupe.gym.loop.GymEvent;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.Spend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A model each of whose answers is journalled before it is used. A question whose answer is in the
 * journal, or in a cache of earlier gyms, is not asked again; a question that could exceed the
 * budget is not asked at all.
 */
public final class JournalledModel implements LanguageModel {
  /** A character is a token at most, for scripts that tokenizers know badly. */
  private static final int CHARACTERS_PER_TOKEN = 1;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Appends events to a gym's journal. */
  @FunctionalInterface
  public interface Append {
    void write(List<GymEvent> events) throws IOException;
  }

  /** A question was not asked, because its answer could cost more than is left. */
  public static final class BudgetException extends IOException {
    private static final long serialVersionUID = 1;

    BudgetException(String message) {
      super(message);
    }
  }

  private final LanguageModel model;
  private final ModelBudget budget;
  private final Optional<Path> cache;
  private final Supplier<GymState> state;
  private final Append append;

  /**
   * A model over a journal.
   *
   * @param cache folder of answers that gyms share; none if there is none
   */
  public JournalledModel(
      LanguageModel model,
      ModelBudget budget,
      Optional<Path> cache,
      Supplier<GymState> state,
      Append append) {
    this.model = model;
    this.budget = budget;
    this.cache = cache;
    this.state = state;
    this.append = append;
  }

  @Override
  public String identity() {
    return model.identity();
  }

  @Override
  public Spend most(long inputTokens) {
    return model.most(inputTokens);
  }

  @Override
  public ModelReply ask(ModelRequest request) throws IOException {
    String key = request.key(model.identity());
    String known = state.get().answers().get(key);
    if (known != null) {
      return new ModelReply(known, Spend.NONE);
    }
    Optional<String> cached = cached(key);
    if (cached.isPresent()) {
      append.write(List.of(new GymEvent.ModelAnswered(key, cached.get(), Spend.NONE)));
      return new ModelReply(cached.get(), Spend.NONE);
    }
    Optional<String> objection = budget.objection(state.get().spend(), most(request));
    if (objection.isPresent()) {
      throw new BudgetException(
          "the next call of the model could exceed the budget: %s; everything is kept: raise it in"
                  .formatted(objection.get())
              + " resolved.yaml, and --resume continues");
    }
    ModelReply reply = model.ask(request);
    append.write(List.of(new GymEvent.ModelAnswered(key, reply.text(), reply.spend())));
    if (cache.isPresent()) {
      Files.createDirectories(cache.get());
      AtomicFile.replace(
          file(cache.get(), key),
          JSON.createObjectNode().put("format", 1).put("text", reply.text()).toString());
    }
    return reply;
  }

  private Spend most(ModelRequest request) {
    return model.most((request.system().length() + request.user().length()) / CHARACTERS_PER_TOKEN);
  }

  private Optional<String> cached(String key) throws IOException {
    if (cache.isEmpty() || !Files.isRegularFile(file(cache.get(), key))) {
      return Optional.empty();
    }
    JsonNode node = JSON.readTree(Files.readAllBytes(file(cache.get(), key)));
    return Optional.of(node.path("text").asText());
  }

  private static Path file(Path folder, String key) {
    return folder.resolve(key + ".json");
  }
}
