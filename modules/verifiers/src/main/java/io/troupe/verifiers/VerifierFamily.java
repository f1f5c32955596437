package io.troupe.verifiers;

import java.util.List;

/**
 * Verifiers that come with Troupe and share a module. Each module names its families in {@code
 * META-INF/services/io.troupe.verifiers.VerifierFamily}, so that no module has to know the others.
 * Implementations have a public constructor without arguments. Plug-ins name their {@link
 * VerifierProvider}s instead.
 */
public interface VerifierFamily {
  /** The verifiers, each with a name of its own. */
  List<VerifierProvider> providers();
}
