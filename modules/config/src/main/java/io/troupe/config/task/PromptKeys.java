package io.troupe.config.task;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Blanks;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.tasks.PromptTemplate;
import java.util.List;

/** The text around a question, and the texts that end its answer. */
@Doc("Wording of prompts")
public record PromptKeys(
    @Doc(
            "`raw`: system prompt, blank line, question, assistant prefix, for base models; `chat`:"
                + " the policy's chat template, without thinking, and the assistant prefix.")
        @Default("raw")
        PromptTemplate.PromptForm template,
    @Doc("System prompt; a row's own field `system_prompt` comes before it.") @Default("")
        String systemPrompt,
    @Doc("First words of every answer; a row's own field `assistant_prefix` comes before it.")
        @Default("")
        String assistantPrefix,
    @Doc(
            "Solved examples before the question: a text, or a data file of the same form of which"
                + " the first `few_shot` rows are taken.")
        @Default("")
        @RelativeToFile
        String fewShotFile,
    @Doc(
            value =
                "Examples taken from `few_shot_file`; 0 means that the file is a text, taken"
                    + " whole.",
            unit = "rows")
        @Default("0")
        @Range(min = 0, max = 64)
        int fewShot,
    @Doc("Texts that end a completion, beside the data set's own.") @Blanks List<String> stop,
    @Doc(
            "Whether the texts that usually end an answer of this data set do, where `template` is"
                + " `raw`: `troupe tasks list --json` has them.")
        @Default("true")
        boolean ownStops,
    @Doc(
            value = "Most tokens of a completion, if fewer than rollout.max_tokens; 0 means those.",
            unit = "tokens")
        @Default("0")
        @Range(min = 0, max = 1_000_000)
        int maxCompletionTokens)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("few_shot", "few_shot_file")
        .require(
            () -> fewShot == 0 || !fewShotFile.isEmpty(),
            "needs few_shot_file, which holds the examples",
            "name the file, or remove it");
  }
}
