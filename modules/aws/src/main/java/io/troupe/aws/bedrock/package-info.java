/** Access to the language models of Amazon Bedrock. */
@NullMarked
package io.troupe.aws.bedrock;

import org.jspecify.annotations.NullMarked;
