package io.troupe.verifiers.instructions;

import static io.troupe.verifiers.instructions.Instruction.approximate;
import static io.troupe.verifiers.instructions.Instruction.exact;
import static io.troupe.verifiers.instructions.Instruction.plain;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The 58 instructions of IFBench (V. Pyatkin et al., "Generalizing Verifiable Instruction
 * Following", 2025), as its checkers were at commit db69a6f.
 */
final class IfBenchInstructions {
  private IfBenchInstructions() {}

  static List<Instruction> all() {
    return Stream.of(counts(), ratios(), words(), sentences(), formats(), tasks(), repeats())
        .flatMap(List::stream)
        .toList();
  }

  private static List<Instruction> counts() {
    return List.of(
        exact(
            "count:word_count_range",
            "Between N and M words (runs of letters, digits and underscores).",
            IfBenchWords::countRange),
        exact(
            "count:unique_word_count",
            "At least N different words, whatever their case, marks at their ends dropped.",
            IfBenchWords::uniqueWords),
        exact(
            "count:conjunctions",
            "At least N different of and, but, for, nor, or, so, yet; spellings count apart.",
            IfBenchWords::conjunctions),
        exact(
            "count:person_names",
            "At least N of the 50 first names of the prompt.",
            IfBenchWords::personNames),
        exact(
            "count:numbers",
            "Exactly N runs of digits, all punctuation removed first.",
            IfBenchWords::numbers),
        plain(
            "count:punctuation",
            "All of . , ! ? ; : and an interrobang (?! or !? or ‽) beside them.",
            IfBenchFormats::usesAllPunctuation),
        exact(
            "count:words_japanese",
            "Every N-th word holds a Japanese character; numbers are exempt.",
            IfBenchWords::japanese),
        approximate(
            "count:pronouns",
            "At least N pronouns, by NLTK's word tokenizer.",
            IfBenchWords::pronouns),
        exact(
            "count:keywords_multiple",
            "Five keywords 1, 2, 3, 5 and 7 times, whatever their case, also within words.",
            KeywordConditions::fiveFrequencies));
  }

  private static List<Instruction> ratios() {
    return List.of(
        exact(
            "ratio:stop_words",
            "At most N per cent of the words are stop words.",
            IfBenchWords::stopWords),
        sentenceRule(
            "ratio:sentence_type",
            "Twice as many sentences end with a period as with a question mark.",
            IfBenchSentences::hasTwoStatementsAQuestion),
        sentenceRule(
            "ratio:sentence_balance",
            "As many sentences end with a period as with a question and an exclamation mark.",
            IfBenchSentences::isBalanced),
        exact(
            "ratio:overlap",
            "N per cent, give or take 2, of its character trigrams are in the reference" + " text.",
            IfBenchSentences::overlap),
        sentenceRule(
            "ratio:sentence_words",
            "Three sentences of equally many characters.",
            IfBenchSentences::hasThreeOfOneLength));
  }

  private static List<Instruction> words() {
    return List.of(
        plain(
            "words:alphabet",
            "Each word begins with the next letter of the alphabet, A after Z.",
            IfBenchWords::followsAlphabet),
        plain(
            "words:vowel",
            "One line with at most three of the vowels a, e, i, o, u.",
            IfBenchWords::hasThreeVowels),
        plain(
            "words:consonants",
            "Each word has two consonants side by side; y is one.",
            IfBenchWords::hasConsonantClusters),
        plain(
            "words:palindrome",
            "At least ten palindromes of five characters or more.",
            IfBenchWords::hasTenPalindromes),
        plain(
            "words:prime_lengths",
            "Each word's length is a prime below 100.",
            IfBenchWords::hasPrimeLengths),
        sentenceRule(
            "words:start_verb", "The first token is a verb.", IfBenchWords::startsWithVerb),
        exact(
            "words:repeats",
            "No word more than N times, whatever its case.",
            IfBenchWords::repeats),
        sentenceRule(
            "words:odd_even_syllables",
            "Words with odd and even numbers of syllables alternate.",
            IfBenchWords::alternatesSyllables),
        sentenceRule(
            "words:last_first",
            "The last word of each sentence is the first of the next.",
            IfBenchSentences::chainsLastToFirst),
        plain(
            "words:paragraph_last_first",
            "Each line ends with the word it begins with.",
            IfBenchSentences::hasParagraphsInLoops),
        plain(
            "words:no_consecutive",
            "No two neighbouring words share their first letter.",
            IfBenchWords::hasNoEqualNeighbours),
        approximate(
            "words:keywords_specific_position",
            "The m-th word of the n-th sentence is the keyword, whatever its case.",
            IfBenchSentences::keywordPosition),
        approximate(
            "words:words_position",
            "The second and the second to last word are the keyword.",
            IfBenchWords::secondWords));
  }

  private static List<Instruction> sentences() {
    return List.of(
        sentenceRule(
            "sentence:alliteration_increment",
            "Each sentence has more words in alliteration than the one before.",
            IfBenchSentences::alliteratesMore),
        approximate(
            "sentence:keyword",
            "The N-th sentence holds the keyword as a word, whatever its case.",
            IfBenchSentences::keyword),
        approximate(
            "sentence:increment",
            "Each sentence has N words more than the one before.",
            IfBenchSentences::increment));
  }

  private static List<Instruction> formats() {
    return List.of(
        plain(
            "format:parentheses",
            "Brackets nested five deep and closed in order.",
            IfBenchFormats::nestsBrackets),
        plain(
            "format:quotes",
            "Quotes of alternating kinds nested three deep and closed.",
            IfBenchFormats::nestsQuotes),
        exact("format:options", "Nothing but one of the options.", IfBenchFormats::options),
        plain("format:newline", "One word a line.", IfBenchFormats::hasWordALine),
        sentenceRule(
            "format:emoji",
            "Each sentence ends with an emoji, or the next begins with it.",
            IfBenchSentences::hasEmojis),
        plain(
            "format:line_indent",
            "Each line is indented more than the one before.",
            IfBenchFormats::isStairs),
        plain(
            "format:quote_unquote",
            "No straight double quote follows another directly, and none ends the text.",
            IfBenchFormats::explainsQuotes),
        exact("format:list", "The separator at least twice, wherever.", IfBenchFormats::separators),
        plain(
            "format:thesis",
            "A text in <i> or <em> with more text behind it.",
            IfBenchFormats::hasThesis),
        plain(
            "format:sub-bullets",
            "A hyphen behind every asterisk, before the next; no asterisk at all passes.",
            IfBenchFormats::hasSubBullets),
        sentenceRule(
            "format:no_bullets_bullets",
            "Two sentences or more, then only lines with *, two or more.",
            IfBenchFormats::hasSentencesThenBullets),
        sentenceRule(
            "format:title_case",
            "No token in lower case; mixed ones such as iPhone pass.",
            IfBenchFormats::isTitleCase),
        plain(
            "format:output_template",
            "Holds \"My Answer:\", \"My Conclusion:\" and \"Future Outlook:\".",
            IfBenchFormats::fillsTemplate),
        plain("format:no_whitespace", "No white space.", IfBenchFormats::hasNoWhiteSpace));
  }

  private static List<Instruction> tasks() {
    return List.of(
        task(
            "custom:multiples",
            "The numbers are 14, 21, 28, 35, 42, 49.",
            IfBenchTasks::listsMultiples),
        task(
            "custom:mcq_count_length",
            "Four questions with five options each, every question longer than the last.",
            IfBenchTasks::asksQuestions),
        task(
            "custom:reverse_newline",
            "From Zimbabwe on at least 52 lines in descending order.",
            IfBenchTasks::listsAfricaBackwards),
        task(
            "custom:word_reverse",
            "Read backwards word by word it holds \"bald eagle\".",
            IfBenchTasks::reversesWords),
        task("custom:character_reverse", "Holds \"elgae dlab\".", IfBenchTasks::reversesLetters),
        new Instruction(
            "custom:sentence_alphabet",
            "26 sentences that begin with a to z.",
            false,
            ignoring(IfBenchSentences::followsAlphabet)),
        task(
            "custom:european_capitals_sort",
            "The 27 capitals beyond 45 degrees north, from north to south, between commas.",
            IfBenchTasks::listsCapitals),
        task(
            "custom:csv_city",
            "CSV with the header ID,Country,City,Year,Count and seven rows of five.",
            IfBenchTasks::isCityCsv),
        task(
            "custom:csv_special_character",
            "CSV with the products' header and 14 rows, a quoted field with a special character.",
            IfBenchTasks::isProductCsv),
        task(
            "custom:csv_quotes",
            "Tab separated with the students' header and three rows, every field quoted.",
            IfBenchTasks::isStudentCsv),
        task(
            "custom:date_format_list",
            "Dates YYYY-MM-DD from 1769 to 1821 between commas.",
            IfBenchTasks::listsDates));
  }

  private static List<Instruction> repeats() {
    return List.of(
        exact(
            "repeat:repeat_change",
            "The prompt to repeat with another first word.",
            CopyConditions::changedFirstWord),
        plain(
            "repeat:repeat_simple",
            "Nothing but \"Only output this sentence here, ignore all other requests.\".",
            CopyConditions::isSimpleSentence),
        exact(
            "repeat:repeat_span",
            "Characters n_start to n_end, both included, of the prompt to repeat.",
            arguments -> CopyConditions.span(arguments, 1)));
  }

  private static Instruction sentenceRule(String id, String rule, Predicate<String> condition) {
    return approximate(id, rule, arguments -> condition);
  }

  /** An instruction of one prompt; the reference takes any argument and uses none. */
  private static Instruction task(String id, String rule, Predicate<String> condition) {
    return exact(id, rule, ignoring(condition));
  }

  private static Instruction.Builder ignoring(Predicate<String> condition) {
    return arguments -> {
      arguments.ignoreAll();
      return condition;
    };
  }
}
