/** The model of a server: a policy, its weights by name, and the adapters beside it. */
@NullMarked
package io.troupe.serve.model;

import org.jspecify.annotations.NullMarked;
