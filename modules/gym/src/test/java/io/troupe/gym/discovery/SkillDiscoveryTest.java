package io.troupe.gym.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.gym.agent.PromptFiles;
import io.troupe.gym.discovery.DiscoveredSkills.Category;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.loop.Spend;
import io.troupe.gym.model.LanguageModel;
import io.troupe.gym.model.ModelReply;
import io.troupe.gym.model.ModelRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SkillDiscoveryTest {
  private static final List<GymItem> ITEMS =
      List.of(item("1", "Add 2 and 3"), item("2", "Add 4 and 5"), item("3", "Halve 8"));
  private static final String CATEGORIES =
      "{\"categories\":[{\"name\":\"Sums \",\"skills\":[\"add numbers\"]},{\"name\":\"parts\",\"skills\":[]}]}";

  @TempDir private Path root;

  private static GymItem item(String id, String prompt) {
    return new GymItem(id, "source", "", prompt, "0");
  }

  private record Written(UnaryOperator<String> answer, List<String> asked)
      implements LanguageModel {
    @Override
    public ModelReply ask(ModelRequest request) {
      asked.add(request.user());
      return new ModelReply(answer.apply(request.user()), Spend.NONE);
    }

    @Override
    public Spend most(long inputTokens) {
      return Spend.NONE;
    }

    @Override
    public String identity() {
      return "written";
    }
  }

  private final List<String> asked = new ArrayList<>();

  private DiscoveredSkills discover(UnaryOperator<String> answer) throws IOException {
    return new SkillDiscovery(new Written(answer, asked), PromptFiles.SHIPPED, 2).discover(ITEMS);
  }

  private static String sensible(String question) {
    if (question.startsWith("Name the one skill")) {
      return "{\"skill\":\"%s\"}".formatted(question.contains("Add") ? "Add numbers" : "halve");
    }
    return question.startsWith("These are the skills") ? CATEGORIES : "{\"category\":\"parts\"}";
  }

  @Test
  void discover_labelsInACategory_needNoFurtherQuestion() throws IOException {
    DiscoveredSkills found = discover(SkillDiscoveryTest::sensible);

    assertThat(found.labels())
        .isEqualTo(Map.of("1", "add_numbers", "2", "add_numbers", "3", "halve"));
    assertThat(found.categories())
        .containsExactly(
            new Category("sums", List.of("add_numbers")), new Category("parts", List.of()));
    assertThat(found.categoryOf()).isEqualTo(Map.of("1", "sums", "2", "sums", "3", "parts"));
    assertThat(asked).hasSize(5);
    found.write(root.resolve("skills.json"));
    assertThat(DiscoveredSkills.read(root.resolve("skills.json"))).isEqualTo(found);
  }

  @Test
  void discover_aWrongChoice_isNamedInTheNextAttempt() throws IOException {
    DiscoveredSkills found =
        discover(
            question ->
                question.startsWith("Which") && !question.contains("You chose 'cooking'")
                    ? "{\"category\":\"cooking\"}"
                    : sensible(question));

    assertThat(found.categoryOf()).containsEntry("3", "parts");
    assertThat(asked.getLast()).contains("You chose 'cooking', which is none of them.");
  }

  @Test
  void discover_nonsenseForEver_endsWithASentence() {
    assertThatThrownBy(() -> discover(_ -> "as a language model"))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "the language model named no skill of the item 1 in 3 attempts; every answer is kept:"
                + " take another model.model, or name facets in task.skills");
    assertThatThrownBy(
            () ->
                discover(
                    question ->
                        question.startsWith("Which") ? "{\"category\":\"?\"}" : sensible(question)))
        .hasMessageContaining("chose no category for the item 3 in 3 attempts");
    assertThatThrownBy(
            () ->
                discover(
                    question ->
                        question.startsWith("These") ? "{\"categories\":[]}" : sensible(question)))
        .hasMessageContaining("grouped no skills into categories in 3 attempts");
  }

  @Test
  void filled_ownFile_isTakenAndAWrongPlaceIsNamed() throws IOException {
    Files.writeString(root.resolve("label.txt"), "Skill of {problem}?");
    PromptFiles own = new PromptFiles(Optional.of(root));

    assertThat(own.filled("label.txt", Map.of("problem", "1+1"))).isEqualTo("Skill of 1+1?");
    assertThat(own.filled("solve.txt", Map.of("problem", "1+1", "examples", "none")))
        .contains("1+1");
    Files.writeString(root.resolve("label.txt"), "Skill of {item}?");
    assertThatThrownBy(() -> own.filled("label.txt", Map.of("problem", "1+1")))
        .hasMessage(
            "the prompt label.txt has the place {item}, and there is no such value; there are problem");
  }
}
