package io.troupe.config.binding;

import io.troupe.config.schema.Schema;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Loads records from a YAML file and the assignments of a command line. */
public final class ConfigurationFile {
  /** More than any person writes. */
  private static final long MAX_BYTES = 1 << 20;

  private ConfigurationFile() {}

  /**
   * Reads, overrides, binds and checks.
   *
   * @param overrides assignments such as {@code training.steps=100}, the later over the earlier
   * @throws ConfigurationException with all that is wrong with it
   */
  public static <T extends Record> ResolvedConfig<T> load(
      Class<T> type, Path file, List<String> overrides) {
    return bind(type, file, text(file), overrides);
  }

  /** Binds a text as {@link #load} does a file; the text is, or will be, in {@code file}. */
  public static <T extends Record> ResolvedConfig<T> bind(
      Class<T> type, Path file, String text, List<String> overrides) {
    ViolationLog findings = new ViolationLog(file);
    List<ConfigViolation> syntax = new ArrayList<>();
    ConfigTree.Mapping tree = YamlReader.read(file, text, syntax);
    syntax.forEach(findings::add);
    boolean unreadable = syntax.stream().anyMatch(violation -> violation.key().isEmpty());
    if (unreadable) {
      throw new ConfigurationException(findings.inOrder());
    }
    tree = Overrides.apply(tree, overrides, findings);
    Binder.Bound bound = new Binder(Schema.of(type), findings).bind(tree);
    Optional<T> config = bound.value().map(type::cast);
    if (config.isEmpty() || !findings.inOrder().isEmpty()) {
      throw new ConfigurationException(findings.inOrder());
    }
    if (!(bound.tree() instanceof ConfigTree.Mapping resolved)) {
      throw new IllegalStateException("a record binds to a mapping");
    }
    return ResolvedConfig.of(config.get(), file, resolved);
  }

  private static String text(Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw unreadable(
            file, "must be 1 MiB or smaller", Files.size(file) + " bytes", "shorten it");
      }
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(Files.readAllBytes(file)))
          .toString();
    } catch (CharacterCodingException _) {
      throw unreadable(file, "must be UTF-8 text", "other bytes", "save it as UTF-8");
    } catch (NoSuchFileException _) {
      throw unreadable(
          file, "must exist", "no such file", "check the path, or see conf/ for examples");
    } catch (IOException e) {
      throw unreadable(file, "must be readable", e.toString(), "check path and permissions");
    }
  }

  private static ConfigurationException unreadable(
      Path file, String rule, String given, String advice) {
    return new ConfigurationException(
        List.of(new ConfigViolation(new ValueOrigin.Line(file, 1), "", rule, given, advice)));
  }
}
