package io.troupe.verifiers.language;

import com.cybozu.labs.langdetect.Detector;
import com.cybozu.labs.langdetect.DetectorFactory;
import com.cybozu.labs.langdetect.LangDetectException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Names the language of a text by character n-grams, with the library that Python's langdetect is a
 * translation of. Its sampling has a fixed seed here: the same text has the same language always.
 */
public final class LanguageDetector {
  /** The languages of the library's long profiles. */
  private static final List<String> CODES =
      List.of(
          "af", "ar", "bg", "bn", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "gu",
          "he", "hi", "hr", "hu", "id", "it", "ja", "kn", "ko", "lt", "lv", "mk", "ml", "mr", "ne",
          "nl", "no", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "so", "sq", "sv", "sw", "ta", "te",
          "th", "tl", "tr", "uk", "ur", "vi", "zh-cn", "zh-tw");

  private LanguageDetector() {}

  /** The library keeps its profiles in one place for the process; they are loaded once. */
  private static final class Profiles {
    private static final boolean LOADED = load();

    private static boolean load() {
      DetectorFactory.setSeed(0);
      try {
        DetectorFactory.loadProfile(CODES.stream().map(Profiles::profile).toList());
      } catch (LangDetectException e) {
        throw new IllegalStateException("the language profiles cannot be read", e);
      }
      return true;
    }

    private static String profile(String code) {
      try (InputStream in = DetectorFactory.class.getResourceAsStream("/profiles/" + code)) {
        return new String(Objects.requireNonNull(in, code).readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The codes that can be detected. */
  public static List<String> codes() {
    return CODES;
  }

  /** The code of a text's language; empty if no letter of it indicates one. */
  public static Optional<String> detect(String text) {
    if (!Profiles.LOADED) {
      throw new IllegalStateException("no language profiles");
    }
    try {
      Detector detector = DetectorFactory.create();
      detector.append(text);
      return Optional.of(detector.detect());
    } catch (LangDetectException e) {
      return Optional.empty();
    }
  }
}
