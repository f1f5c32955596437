package io.troupe.verifiers.instructions;

import static io.troupe.verifiers.instructions.Instruction.approximate;
import static io.troupe.verifiers.instructions.Instruction.exact;
import static io.troupe.verifiers.instructions.Instruction.plain;

import java.util.List;

/**
 * The 25 instructions of IFEval (J. Zhou et al., "Instruction-Following Evaluation for Large
 * Language Models", 2023), with the quirks of its checkers: they decide who followed.
 */
final class IfEvalInstructions {
  private IfEvalInstructions() {}

  static List<Instruction> all() {
    return List.of(
        exact(
            "keywords:existence",
            "Every keyword, a regular expression, is found, whatever its case, also within words.",
            KeywordConditions::existence),
        exact(
            "keywords:frequency",
            "The keyword, a regular expression, is found as often as said, also within words.",
            KeywordConditions::frequency),
        exact(
            "keywords:forbidden_words",
            "No forbidden word, a regular expression, is found between word boundaries.",
            KeywordConditions::forbiddenWords),
        exact(
            "keywords:letter_frequency",
            "The letter, whatever its case, is there as often as said.",
            KeywordConditions::letterFrequency),
        exact(
            "language:response_language",
            "The detected language is the one asked for; text without letters passes.",
            FormatConditions::language),
        approximate(
            "length_constraints:number_sentences",
            "As many sentences as said, by the Punkt algorithm.",
            LengthConditions::sentences),
        exact(
            "length_constraints:number_paragraphs",
            "Exactly N paragraphs between lines of ***; an empty one within fails.",
            LengthConditions::paragraphs),
        exact(
            "length_constraints:number_words",
            "As many words (runs of letters, digits and underscores) as said.",
            LengthConditions::words),
        exact(
            "length_constraints:nth_paragraph_first_word",
            "N paragraphs between blank lines, the n-th beginning with the word.",
            LengthConditions::firstWordOfParagraph),
        exact(
            "detectable_content:number_placeholders",
            "At least N texts in square brackets, each on one line.",
            FormatConditions::placeholders),
        exact(
            "detectable_content:postscript",
            "The postscript's marker is found, whatever its case.",
            FormatConditions::postscript),
        exact(
            "detectable_format:number_bullet_lists",
            "Exactly N lines begin with * (not **) or -.",
            FormatConditions::bullets),
        plain(
            "detectable_format:constrained_response",
            "Holds \"My answer is yes.\", \"My answer is no.\" or \"My answer is maybe.\".",
            FormatConditions::isConstrained),
        exact(
            "detectable_format:number_highlighted_sections",
            "At least N *texts* and **texts**; a bold one may count for both.",
            FormatConditions::highlights),
        exact(
            "detectable_format:multiple_sections",
            "At least N headings: the section's name, then a number.",
            FormatConditions::sections),
        plain(
            "detectable_format:json_format",
            "The whole text, without a ``` fence around it, is JSON to Python's json.loads.",
            FormatConditions::isJson),
        plain(
            "detectable_format:title",
            "A text in << and >> on one line that is not blank.",
            FormatConditions::hasTitle),
        plain(
            "combination:two_responses",
            "Two different texts with ****** between them.",
            LengthConditions::isTwoResponses),
        exact(
            "combination:repeat_prompt",
            "Begins with the prompt to repeat, whatever its case.",
            LengthConditions::repeatsPrompt),
        exact(
            "startend:end_checker",
            "Ends with the phrase, whatever its case; double quotes at the end do not count.",
            FormatConditions::end),
        plain(
            "startend:quotation",
            "Begins and ends with a double quote.",
            FormatConditions::isQuoted),
        approximate(
            "change_case:capital_word_frequency",
            "As many words in capitals as said, by NLTK's word tokenizer.",
            FormatConditions::capitalWords),
        plain(
            "change_case:english_capital",
            "In capitals throughout, and detected as English.",
            FormatConditions::isEnglishCapitals),
        plain(
            "change_case:english_lowercase",
            "In lower case throughout, and detected as English.",
            FormatConditions::isEnglishLowerCase),
        plain("punctuation:no_comma", "No comma.", answer -> !answer.contains(",")));
  }
}
