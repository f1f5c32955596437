package io.troupe.tasks;

/**
 * One of the data sets of a task.
 *
 * @param name under which prompts refer to it: {@link io.troupe.core.prompt.Prompt#source()}
 * @param dataSet that it belongs to: its alias, else its name
 * @param verifier that judges its answers
 * @param promptForm of its prompts: the text of a chat spells special tokens, a raw one does not
 * @param limits of its completions
 */
public record TaskSource(
    String name,
    String dataSet,
    String verifier,
    PromptTemplate.PromptForm promptForm,
    SourceLimits limits,
    SourceReport report) {}
