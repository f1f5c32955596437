package io.troupe.verifiers.instructions;

import static io.troupe.verifiers.instructions.Instruction.approximate;
import static io.troupe.verifiers.instructions.Instruction.exact;
import static io.troupe.verifiers.instructions.Instruction.plain;

import java.util.List;
import java.util.stream.Stream;

/**
 * The 54 instructions of the multi-constraint training set (IF_multi_constraints_upto5 of
 * open-instruct's IFEvalG): IFEval's 25, and 29 more.
 */
final class IfMultiInstructions {
  private IfMultiInstructions() {}

  static List<Instruction> all() {
    return Stream.of(IfEvalInstructions.all(), words(), copies(), forms())
        .flatMap(List::stream)
        .toList();
  }

  private static List<Instruction> words() {
    return List.of(
        plain(
            "keywords:no_adjacent_consecutive",
            "No word begins with the letter after the first letter of the word before.",
            SentenceConditions::hasNoFollowingLetters),
        exact(
            "keywords:word_once",
            "The keyword, a regular expression, is found exactly once, also within words.",
            KeywordConditions::once),
        exact(
            "keywords:word_count_different_numbers",
            "As keywords:frequency.",
            KeywordConditions::frequency),
        exact(
            "keywords:exclude_word_harder",
            "The keyword is not between two spaces; at a comma or an end it may.",
            KeywordConditions::spacedWordAbsent),
        plain(
            "keywords:palindrome",
            "A word reads the same backwards, marks and case included; one letter is enough.",
            SentenceConditions::holdsPalindrome),
        approximate(
            "keywords:keyword_specific_position",
            "The m-th token of the n-th sentence is the keyword, case included.",
            SentenceConditions::keywordPosition),
        approximate(
            "keywords:start_end",
            "The first token is the last one, whatever its case; a mark at the end is a token.",
            arguments -> SentenceConditions::startsAndEndsAlike),
        exact(
            "first_word:first_word_sent",
            "Every sentence begins with the word, whatever its case.",
            SentenceConditions::firstWordOfSentences),
        exact(
            "first_word:first_word_answer",
            "The answer begins with the word, whatever its case.",
            SentenceConditions::firstWord),
        exact(
            "last_word:last_word_sent",
            "Every sentence ends with the word, whatever its case, marks dropped.",
            SentenceConditions::lastWordOfSentences),
        exact(
            "last_word:last_word_answer",
            "The answer ends with the word, whatever its case, marks dropped.",
            SentenceConditions::lastWord),
        exact(
            "count:lowercase_counting",
            "At most N words of the letters a to z, in all.",
            LengthConditions::lowerCaseWordsAtMost),
        approximate(
            "count:counting_composition",
            "Three paragraphs between ***, each of N sentences of M tokens.",
            LengthConditions::composition),
        approximate(
            "count:count_unique",
            "No token twice, marks included, with its case.",
            arguments -> LengthConditions::hasUniqueTokens),
        exact(
            "count:count_increment_word",
            "The first keyword is found once and the second twice, also within words.",
            KeywordConditions::onceAndTwice),
        exact(
            "letters:letter_counting",
            "As many letters A to Z of either case as said.",
            KeywordConditions::letters),
        exact(
            "letters:letter_counting2",
            "As keywords:letter_frequency.",
            KeywordConditions::letterFrequency));
  }

  private static List<Instruction> copies() {
    return List.of(
        exact(
            "copy:repeat_phrase",
            "The phrase N times, at most one word of each changed, one of the last.",
            CopyConditions::phrases),
        exact(
            "copy:copy",
            "Nothing but the prompt to repeat, whatever its case.",
            CopyConditions::copy),
        exact("copy:copying_simple", "As copy:copy.", CopyConditions::copy),
        exact(
            "copy:copying_multiple",
            "The prompt to repeat N times with ****** between.",
            CopyConditions::copies),
        exact(
            "new:copy_span_idx",
            "Characters n_start up to n_end, without it, of the prompt to repeat.",
            arguments -> CopyConditions.span(arguments, 0)));
  }

  private static List<Instruction> forms() {
    return List.of(
        plain(
            "detectable_format:sentence_hyphens",
            "The texts between hyphens are, one by one, the sentences.",
            SentenceConditions::isJoinedByHyphens),
        plain(
            "detectable_format:square_brackets",
            "Every word begins with [ and ends with ].",
            SentenceConditions::isBracketed),
        plain(
            "detectable_format:bigram_wrapping",
            "Of every two words the first begins with << and the second ends with >>.",
            SentenceConditions::isInBigrams),
        plain("punctuation:punctuation_dot", "No period.", answer -> !answer.contains(".")),
        plain(
            "punctuation:punctuation_exclamation",
            "No exclamation mark.",
            answer -> !answer.contains("!")),
        plain(
            "paragraphs:paragraphs",
            "Exactly two paragraphs between ***.",
            LengthConditions::hasTwoDividedParagraphs),
        plain(
            "paragraphs:paragraphs2",
            "Exactly two paragraphs between blank lines.",
            LengthConditions::hasTwoSpacedParagraphs));
  }
}
