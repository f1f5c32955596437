/** What a server serves: a policy, its weights by name, and the adapters beside it. */
@NullMarked
package io.troupe.serve.model;

import org.jspecify.annotations.NullMarked;
