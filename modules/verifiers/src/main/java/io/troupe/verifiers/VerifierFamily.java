package io.troupe.verifiers;

import java.util.List;

/**
 * The verifiers of one module of Troupe. Each module names its families in {@code
 * META-INF/services/io.troupe.verifiers.VerifierFamily}, so that no module depends on another's
 * verifiers. Implementations have a public constructor without arguments. Plug-ins name their
 * {@link VerifierProvider}s instead.
 */
public interface VerifierFamily {
  /** The verifiers; each has a unique name. */
  List<VerifierProvider> providers();
}
