package io.troupe.tasks;

/**
 * One of the data sets of a task.
 *
 * @param name by which prompts refer to the source: {@link io.troupe.core.prompt.Prompt#source()}
 * @param dataSet alias of the data set, else its name
 * @param verifier that judges its answers
 * @param promptForm of its prompts: the text of a chat spells special tokens, a raw text does not
 * @param limits of its completions
 */
public record TaskSource(
    String name,
    String dataSet,
    String verifier,
    PromptTemplate.PromptForm promptForm,
    SourceLimits limits,
    SourceReport report) {}
