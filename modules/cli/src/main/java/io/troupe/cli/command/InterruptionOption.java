package io.troupe.cli.command;

import io.troupe.aws.interruption.InterruptionNotice;
import io.troupe.aws.interruption.InterruptionWatch;
import java.net.URI;
import java.util.Optional;
import java.util.function.Consumer;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The option that says where a notice is looked up that this host ends. */
public final class InterruptionOption {
  @Option(
      names = "--interruptions",
      paramLabel = "auto|none|URL",
      defaultValue = "auto",
      converter = SourceConverter.class,
      description =
          "Where a notice is looked up that this host ends, upon which the command ends in time."
              + " auto asks the instance metadata if this is a host of EC2 (${DEFAULT-VALUE}).")
  private Source interruptions = new Source(Optional.empty());

  private record Source(Optional<URI> endpoint) {}

  private static final class SourceConverter implements ITypeConverter<Source> {
    @Override
    public Source convert(String value) {
      try {
        return new Source(InterruptionWatch.endpoint(value));
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }

  /**
   * Watches for a notice until it came, or until the watch is closed.
   *
   * @param say receives sentences for the operator
   * @param onNotice called once, on a thread of the watch
   */
  public InterruptionWatch watch(Consumer<String> say, Consumer<InterruptionNotice> onNotice) {
    return InterruptionWatch.start(interruptions.endpoint(), say, onNotice);
  }
}
