package io.troupe.tasks;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.tasks.Gsm8kSettings.HeldOut;
import io.troupe.tasks.JsonLines.BadLine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Grade-school word problems (Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems").
 *
 * <ul>
 *   <li>Text: {@code "Q: " + question + "\nA:"}, white space at both ends of the question removed.
 *   <li>Answer: what follows the last {@code ####}, white space removed; thousands separators stay.
 *   <li>Solution: a space (the text ends with a colon), the worked solution without its calculator
 *       annotations {@code <<48/2=24>>}, and a last line {@code The answer is N.}, which is the
 *       sentence the strict reading of an answer looks for.
 *   <li>Id: {@code gsm8k_i}, i being the number of the row in its file, from 0, whatever the limits
 *       leave out; {@code gsm8k_heldout_i} for a second file.
 * </ul>
 */
public final class Gsm8kTask implements Task {
  private static final Pattern ANNOTATION = Pattern.compile("<<[^<>]*>>");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9][0-9,]*(\\.[0-9]+)?");
  private static final String ANSWER_MARK = "####";

  private final PromptSets sets;
  private final String alphabet;

  private Gsm8kTask(PromptSets sets) {
    this.sets = sets;
    this.alphabet = sets.alphabet();
  }

  /**
   * Reads the task's files.
   *
   * @throws BadTaskData if a file is missing, damaged or has bad lines, or the limits leave nothing
   * @throws IOException if a file cannot be read
   */
  public static Gsm8kTask load(Gsm8kSettings settings) throws IOException {
    List<Prompt> prompts = read(settings.file(), "gsm8k_", settings);
    return new Gsm8kTask(
        switch (settings.heldOut()) {
          case HeldOut.Share(double share, long seed) -> PromptSets.split(prompts, share, seed);
          case HeldOut.SecondFile(Path file) ->
              new PromptSets(prompts, read(file, "gsm8k_heldout_", settings));
        });
  }

  @Override
  public String name() {
    return "gsm8k";
  }

  @Override
  public List<Prompt> train() {
    return sets.train();
  }

  @Override
  public List<Prompt> heldOut() {
    return sets.heldOut();
  }

  @Override
  public String alphabet() {
    return alphabet;
  }

  private static List<Prompt> read(Path file, String prefix, Gsm8kSettings settings)
      throws IOException {
    List<Prompt> all = JsonLines.read(file, (row, object) -> prompt(prefix + row, object));
    List<Prompt> kept =
        all.stream()
            .filter(p -> p.text().length() <= settings.maxPromptCharacters())
            .filter(p -> p.solution().length() <= settings.maxSolutionCharacters())
            .limit(settings.maxRows())
            .toList();
    if (kept.isEmpty()) {
      throw new BadTaskData(
          ("%s: none of its %d rows has a prompt of at most %d and a solution of at most %d"
                  + " characters; raise the limits")
              .formatted(
                  file,
                  all.size(),
                  settings.maxPromptCharacters(),
                  settings.maxSolutionCharacters()));
    }
    return kept;
  }

  private static Prompt prompt(String id, JsonNode object) throws BadLine {
    String question = JsonLines.text(object, "question").strip();
    String worked = JsonLines.text(object, "answer");
    int mark = worked.lastIndexOf(ANSWER_MARK);
    if (mark < 0) {
      throw new BadLine("\"answer\" must hold its final answer behind ####", worked);
    }
    String answer = worked.substring(mark + ANSWER_MARK.length()).strip();
    if (!NUMBER.matcher(answer).matches()) {
      throw new BadLine("the final answer behind #### must be a number", answer);
    }
    String steps = ANNOTATION.matcher(worked.substring(0, mark)).replaceAll("").strip();
    return new Prompt(
        new PromptId(id),
        "gsm8k",
        "Q: " + question + "\nA:",
        answer,
        " " + (steps.isEmpty() ? "" : steps + "\n") + "The answer is " + answer + ".");
  }
}
