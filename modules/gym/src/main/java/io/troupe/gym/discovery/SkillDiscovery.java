package io.troupe.gym.discovery;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gym.agent.PromptFiles;
import io.troupe.gym.discovery.DiscoveredSkills.Category;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.model.JsonAnswers;
import io.troupe.gym.model.LanguageModel;
import io.troupe.gym.model.ModelRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Finds the skills of items by a language model (Didolkar et al. 2024): it labels each item, groups
 * the labels into categories, and assigns an item whose label is in no category. Every question has
 * some attempts, and each attempt one repair; after the last one there is no result but a sentence.
 */
public final class SkillDiscovery {
  private static final int ATTEMPTS = 3;
  private static final String SYSTEM = "You analyse which skills problems need.";

  private final JsonAnswers answers;
  private final PromptFiles prompts;
  private final int categories;

  /**
   * A discovery.
   *
   * @param categories that are wanted at least
   */
  public SkillDiscovery(LanguageModel model, PromptFiles prompts, int categories) {
    this.answers = new JsonAnswers(model);
    this.prompts = prompts;
    this.categories = categories;
  }

  /**
   * Finds the skills of items.
   *
   * @throws IOException if the model cannot be asked, or answers nothing that fits
   */
  public DiscoveredSkills discover(List<GymItem> items) throws IOException {
    Map<String, String> labels = new LinkedHashMap<>();
    for (GymItem item : items) {
      labels.put(item.id(), label(item));
    }
    List<Category> found = categories(new TreeSet<>(labels.values()));
    Map<String, String> categoryOf = new HashMap<>();
    for (GymItem item : items) {
      String label = labels.getOrDefault(item.id(), "");
      Optional<Category> listed =
          found.stream().filter(each -> each.skills().contains(label)).findFirst();
      categoryOf.put(item.id(), listed.isPresent() ? listed.get().name() : assigned(item, found));
    }
    return new DiscoveredSkills(labels, found, categoryOf);
  }

  private String label(GymItem item) throws IOException {
    String prompt = prompts.filled("label.txt", Map.of("problem", item.prompt()));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Optional<JsonNode> answer = ask(prompt, attempt, object("skill", text()));
      String label = answer.map(node -> name(node.path("skill").asText())).orElse("");
      if (!label.isEmpty()) {
        return label;
      }
    }
    throw failed("named no skill of the item " + item.id());
  }

  private List<Category> categories(Set<String> labels) throws IOException {
    ObjectNode category = object("name", text());
    category.withArray("required").add("skills");
    category.withObject("/properties").set("skills", list(text()));
    String prompt =
        prompts.filled(
            "categories.txt",
            Map.of(
                "labels",
                String.join("\n", labels),
                "wanted",
                Integer.toString(Math.min(categories, labels.size()))));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Optional<JsonNode> answer = ask(prompt, attempt, object("categories", list(category)));
      List<Category> found = answer.map(SkillDiscovery::read).orElse(List.of());
      if (!found.isEmpty()) {
        return found;
      }
    }
    throw failed("grouped no skills into categories");
  }

  private static List<Category> read(JsonNode answer) {
    Map<String, List<String>> byName = new LinkedHashMap<>();
    Set<String> taken = new HashSet<>();
    for (JsonNode each : answer.path("categories")) {
      String name = name(each.path("name").asText());
      if (!name.isEmpty()) {
        List<String> skills = byName.computeIfAbsent(name, _ -> new ArrayList<>());
        for (JsonNode skill : each.path("skills")) {
          String label = name(skill.asText());
          if (taken.add(label)) {
            skills.add(label);
          }
        }
      }
    }
    return byName.entrySet().stream()
        .map(each -> new Category(each.getKey(), each.getValue()))
        .toList();
  }

  /** Asks for one of the categories; a wrong choice is named in the next attempt. */
  private String assigned(GymItem item, List<Category> found) throws IOException {
    String names = found.stream().map(Category::name).collect(Collectors.joining(", "));
    String wrong = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      String prompt =
          prompts.filled(
              "assign.txt", Map.of("categories", names, "wrong", wrong, "problem", item.prompt()));
      String chosen =
          ask(prompt, attempt, object("category", text()))
              .map(node -> name(node.path("category").asText()))
              .orElse("");
      if (found.stream().anyMatch(each -> each.name().equals(chosen))) {
        return chosen;
      }
      wrong = "You chose '%s', which is none of them.%n".formatted(chosen);
    }
    throw failed("chose no category for the item " + item.id());
  }

  private Optional<JsonNode> ask(String prompt, int attempt, JsonNode schema) throws IOException {
    return answers.ask(new ModelRequest(SYSTEM, prompt, "discovery " + attempt), schema);
  }

  private static IOException failed(String what) {
    return new IOException(
        "the language model %s in %d attempts; every answer is kept: take another model.model, or name facets in task.skills"
            .formatted(what, ATTEMPTS));
  }

  /** A name in lower case with underscores, which is no path. */
  private static String name(String text) {
    return text.strip().toLowerCase(Locale.ROOT).replaceAll("[\\s/-]+", "_");
  }

  private static ObjectNode text() {
    return JsonNodeFactory.instance.objectNode().put("type", "string");
  }

  private static ObjectNode list(JsonNode items) {
    ObjectNode schema = JsonNodeFactory.instance.objectNode().put("type", "array");
    schema.set("items", items);
    return schema;
  }

  private static ObjectNode object(String field, JsonNode value) {
    ObjectNode schema = JsonNodeFactory.instance.objectNode().put("type", "object");
    schema.putArray("required").add(field);
    schema.putObject("properties").set(field, value);
    return schema;
  }
}
