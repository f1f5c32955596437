package io.troupe.aws.sagemaker;

import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The name of a training job. It is the job's token too: SageMaker takes a name once for ever in a
 * region of an account.
 */
final class TrainingJobName {
  /** The rule of a prefix, in words. */
  static final String PREFIX_RULE =
      "1 to 47 letters, digits and hyphens, with a letter or digit at both ends";

  /** SageMaker's rule, to the letter. */
  private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}");

  private static final int LONGEST = 63;
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("uuuuMMdd-HHmmss", Locale.ROOT);
  private static final int STAMP_LENGTH = 15;

  private TrainingJobName() {}

  /** Whether SageMaker takes a name. */
  static boolean isValid(String name) {
    return name.length() <= LONGEST && NAME.matcher(name).matches();
  }

  /** Whether names can begin so. */
  static boolean isPrefix(String prefix) {
    return isValid(prefix) && prefix.length() <= LONGEST - 1 - STAMP_LENGTH;
  }

  /** A name that says when and nothing else. */
  static String of(String prefix, LocalDateTime now) {
    return prefix + "-" + STAMP.format(now);
  }
}
