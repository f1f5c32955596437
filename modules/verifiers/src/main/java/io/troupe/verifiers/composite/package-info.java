/** Verifier services that consist of others: what each judges, and how their rewards add up. */
@NullMarked
package io.troupe.verifiers.composite;

import org.jspecify.annotations.NullMarked;
