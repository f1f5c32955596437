/** Requests to Amazon's services and what their failures mean, for all services. */
@NullMarked
package io.troupe.aws.client;

import org.jspecify.annotations.NullMarked;
